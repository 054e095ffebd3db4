"""Every failure as one body, `{"error": {message, code, ..}}`, with the HTTP status that fits."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler

from catalog import errors
from catalog.accounts import attempts
from console.api.authentication import AppPassword
from console.errors import to_dict
from ingest.errors import HeadraceError, Terminal, Transient

_STATUS: tuple[tuple[type[HeadraceError], int], ...] = (
    (errors.SignInRefused, 401),
    (errors.TooManyAttempts, 429),
    (errors.PermissionDenied, 403),
    (errors.UnknownItem, 404),
    (errors.DuplicateItem, 409),
    (errors.DependentItems, 409),
    (errors.StaleCatalog, 409),
    (errors.StatementError, 422),
    (Transient, 503),
    (Terminal, 422),
)
_CODES = {400: "22023", 401: "28000", 403: "42501", 404: "42704", 422: "22023", 429: "53400"}


def status_of(error: HeadraceError) -> int:
    """The HTTP status of a statement's failure."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def error_body(error: HeadraceError, sql: str | None = None) -> dict[str, Any]:
    """A statement's failure, without the fields it does not have; `sql` is what was sent."""
    told = to_dict(error, sql).items()
    return {name: value for name, value in told if value not in (None, [], ())}


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None lets a fault of ours go on to the log and a bare 500."""
    if isinstance(error, HeadraceError):
        return _statement_failed(error, context["request"])
    response = exception_handler(error, context)
    if response is None:
        return None
    body: dict[str, Any] = {
        "message": _message(error),
        "code": _CODES.get(response.status_code, "22023"),
    }
    if isinstance(error, exceptions.ValidationError):
        response.status_code = 422
        body["invalid"] = response.data
    response.data = {"error": body}
    return response


def _statement_failed(error: HeadraceError, request: Request) -> Response:
    headers = {}
    status = status_of(error)
    if status == 401:
        headers["WWW-Authenticate"] = AppPassword().authenticate_header(request)
    if isinstance(error, errors.TooManyAttempts):
        headers["Retry-After"] = str(attempts.WINDOW)
    return Response({"error": error_body(error)}, status, headers=headers)


def _message(error: Exception) -> str:
    if isinstance(error, exceptions.ValidationError):
        return "the request is not valid"
    if isinstance(error, Http404):
        return "not found"
    text = str(getattr(error, "detail", error)).rstrip(".")
    return text[:1].lower() + text[1:]
