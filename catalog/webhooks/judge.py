"""Whether a request is let in, and the rows that it makes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.plan.checking import Unfit
from catalog.sql.nodes.webhook import CheckInput, HeaderFilter
from catalog.webhooks.body import Unreadable, jsonb, text_of, values
from catalog.webhooks.find import Webhook
from ingest.contract.inbox import Accepted, Cells


class Refused(Exception):
    """A request that is not let in: the HTTP status, and why, in words that tell no secret."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Received:
    """A request: its headers by lower-case name, its body, and when it came."""

    headers: Mapping[str, bytes]
    body: bytes
    at: dt.datetime


def judge(webhook: Webhook, request: Received) -> Accepted:
    """The request as rows. Raises Refused: 401 when the check does not hold, 400 when something
    of the request cannot be read."""
    try:
        _check(webhook, request)
        return Accepted(webhook.reference, tuple(_rows(webhook, request)))
    except Unreadable as error:
        raise Refused(400, str(error)) from None


def _check(webhook: Webhook, request: Received) -> None:
    check = webhook.statement.check
    if check is None or webhook.check is None:
        return
    given = {one.name: _given(one, webhook, request) for one in check.inputs}
    try:
        holds = webhook.check.run(given, request.at)
    except Unfit as error:
        raise Refused(400, f"the check could not be evaluated: {error}") from None
    except (ArithmeticError, ValueError, TypeError, OverflowError):
        raise Refused(400, "the check could not be evaluated") from None
    if not holds:
        raise Refused(401, "the request did not pass the check")


def _given(one: CheckInput, webhook: Webhook, request: Received) -> Any:
    match one.kind:
        case "headers" if one.as_bytes:
            return dict(request.headers)
        case "headers":
            return _texts(request.headers)
        case "body":
            return request.body if one.as_bytes else text_of(request.body, "the body")
        case "secret":
            secret = webhook.secrets[one.name]
            return secret.encode() if one.as_bytes else secret


def _rows(webhook: Webhook, request: Received) -> Iterator[Cells]:
    statement = webhook.statement
    after: list[str | None] = []
    if statement.headers is not None:
        kept = filtered(request.headers, statement.headers)
        after.append(jsonb(_texts(kept)))
    for one in statement.mapped:
        value = request.headers.get(one.header)
        if value is None:
            after.append(None)
        elif one.as_bytes:
            after.append("\\x" + value.hex())
        else:
            after.append(text_of(value, f"the header {one.header}"))
    for body in values(request.body, statement.body):
        yield (body, *after)


def _texts(headers: Mapping[str, bytes]) -> dict[str, str]:
    return {name: text_of(value, f"the header {name}") for name, value in headers.items()}


def filtered(headers: Mapping[str, bytes], filters: tuple[HeaderFilter, ...]) -> dict[str, bytes]:
    """The headers that INCLUDE HEADERS keeps: those named, or all, less those that it excludes."""
    named = {one.header for one in filters if not one.excluded}
    excluded = {one.header for one in filters if one.excluded}
    return {
        name: value
        for name, value in headers.items()
        if name not in excluded and (not named or name in named)
    }
