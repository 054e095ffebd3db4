"""How often one caller may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import SimpleRateThrottle

from console.api.authentication import is_signed_in

if TYPE_CHECKING:
    from rest_framework.views import APIView


class PerCaller(SimpleRateThrottle):
    """A rate per user and per kind of view (`throttle_scope`), or per address for strangers."""

    def __init__(self) -> None:
        """Nothing is known before the view is: its scope names the rate."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Whether this call may go on."""
        known = is_signed_in(request.user)
        self.scope = getattr(view, "throttle_scope", "rest") if known else "anonymous"
        self.rate = str((api_settings.DEFAULT_THROTTLE_RATES or {})[self.scope])
        self.num_requests, self.duration = self.parse_rate(self.rate)
        allowed: bool = super().allow_request(request, view)
        return allowed

    def get_cache_key(self, request: Request, view: APIView) -> str:
        """One counter per scope and caller."""
        known = is_signed_in(request.user)
        ident = str(request.user.pk) if known else self.get_ident(request)
        return self.cache_format % {"scope": self.scope, "ident": ident}
