"""The OpenAPI schema's view of how to sign in, and its page."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.views import SpectacularSwaggerSplitView


class AppPasswordScheme(OpenApiAuthenticationExtension):
    """Basic: e-mail and app-specific password."""

    target_class = "console.api.authentication.AppPassword"
    name = "appPassword"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """The scheme."""
        return {
            "type": "http",
            "scheme": "basic",
            "description": "E-mail, and an app-specific password made under Account.",
        }


class BearerScheme(OpenApiAuthenticationExtension):
    """Bearer: app-specific password."""

    target_class = "console.api.authentication.BearerToken"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """The scheme."""
        return {"type": "http", "scheme": "bearer", "description": "An app-specific password."}


@method_decorator(csp_update({"style-src": "'unsafe-inline'"}), name="dispatch")
class Docs(SpectacularSwaggerSplitView):
    """The API's page. Its script comes as a file; its styles are inline, allowed here only."""
