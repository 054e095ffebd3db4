"""Addresses that the catalog shows."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, urlencode

from django.conf import settings


def webhook_url(path: Iterable[str], region: str) -> str:
    """Where the webhook of that full name takes its requests."""
    names = "/".join(quote(part, safe="") for part in path)
    url = f"{settings.HEADRACE_URL}/api/webhook/{names}"
    if region == settings.HEADRACE_REGION:
        return url
    return f"{url}?{urlencode({'region': region}, safe='/')}"
