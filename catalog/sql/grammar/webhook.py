"""CREATE TABLE | SOURCE .. FROM WEBHOOK."""

from __future__ import annotations

from typing import Literal

from catalog.errors import SyntaxFailure
from catalog.sql.cursor import Cursor
from catalog.sql.grammar.check import expression
from catalog.sql.lexer import statements
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.webhook import (
    BodyFormat,
    Check,
    CheckInput,
    CreateWebhook,
    HeaderFilter,
    IncludedHeader,
)
from catalog.sql.spacing import canonical


def create_webhook(
    cursor: Cursor,
    kind: Literal["table", "source"],
    name: Name,
    *,
    cluster: Name | None = None,
    if_not_exists: bool = False,
) -> CreateWebhook:
    """After `FROM WEBHOOK`."""
    body = _body(cursor)
    headers, mapped = _included(cursor)
    check = _check(cursor) if cursor.accept("CHECK") else None
    return CreateWebhook(kind, name, body, headers, mapped, check, cluster, if_not_exists)


def _body(cursor: Cursor) -> BodyFormat:
    cursor.expect("BODY", "FORMAT")
    word = cursor.one_of("TEXT", "JSON", "BYTES")
    if word == "JSON":
        return "json array" if cursor.accept("ARRAY") else "json"
    return "text" if word == "TEXT" else "bytes"


def _included(
    cursor: Cursor,
) -> tuple[tuple[HeaderFilter, ...] | None, tuple[IncludedHeader, ...]]:
    headers: tuple[HeaderFilter, ...] | None = None
    mapped: list[IncludedHeader] = []
    while cursor.accept("INCLUDE"):
        at = cursor.token.start
        if cursor.one_of("HEADER", "HEADERS") == "HEADER":
            mapped.append(_mapped(cursor))
        elif headers is not None:
            cursor.fail("INCLUDE HEADERS specified more than once", at)
        else:
            headers = cursor.parenthesized(lambda: _filter(cursor)) if cursor.peek("(") else ()
    return headers, tuple(mapped)


def _mapped(cursor: Cursor) -> IncludedHeader:
    header = cursor.string().lower()
    cursor.expect("AS")
    return IncludedHeader(header, cursor.identifier(), cursor.accept("BYTES"))


def _filter(cursor: Cursor) -> HeaderFilter:
    excluded = cursor.accept("NOT")
    return HeaderFilter(cursor.string().lower(), excluded)


def check_of(text: str) -> Check:
    """What stands between CHECK's parentheses, alone. Raises SyntaxFailure."""
    tokens = next(statements(text), None)
    if tokens is None:
        raise SyntaxFailure("Expected an expression, found EOF", text, len(text))
    cursor = Cursor(text, tokens)
    check = _condition(cursor)
    cursor.end()
    return check


def _check(cursor: Cursor) -> Check:
    cursor.expect("(")
    check = _condition(cursor)
    cursor.expect(")")
    return check


def _condition(cursor: Cursor) -> Check:
    inputs: tuple[CheckInput, ...] = ()
    if cursor.accept("WITH"):
        inputs = cursor.parenthesized(lambda: _input(cursor))
    at, first = cursor.at(), cursor.index
    tree = expression(cursor)
    text = canonical(cursor.tokens[first : cursor.index])
    return Check(inputs, tree, text, at)


def _input(cursor: Cursor) -> CheckInput:
    kind = cursor.one_of("BODY", "HEADERS", "SECRET")
    secret = cursor.name() if kind == "SECRET" else None
    alias = cursor.identifier() if cursor.accept("AS") else ""
    as_bytes = cursor.accept("BYTES")
    if kind == "SECRET":
        return CheckInput("secret", secret, alias, as_bytes)
    return CheckInput("body" if kind == "BODY" else "headers", None, alias, as_bytes)
