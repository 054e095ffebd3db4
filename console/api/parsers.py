"""Request bodies, read only up to a size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser


class BodyTooLarge(APIException):
    """More than HEADRACE_BODY_LIMIT bytes."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "the request body is too large"
    default_code = "too_large"


def _text(stream: IO[Any]) -> str:
    limit = settings.HEADRACE_BODY_LIMIT
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise BodyTooLarge
    try:
        return str(body.decode())
    except UnicodeDecodeError as error:
        raise ParseError("the request body is not UTF-8") from error


class BoundedJSON(BaseParser):
    """JSON in UTF-8."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The value in the body. Raises ParseError and BodyTooLarge."""
        try:
            return json.loads(_text(stream), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ParseError("the request body is not JSON") from error


class BoundedText(BaseParser):
    """Plain text in UTF-8."""

    media_type = "text/plain"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The body. Raises ParseError and BodyTooLarge."""
        return _text(stream)


def _refuse(constant: str) -> None:
    message = f"{constant} is not JSON"
    raise ValueError(message)
