"""`NAME [=] value` options, in parentheses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NoReturn

from catalog.sql.cursor import Cursor
from catalog.sql.nodes.names import Name, Option, OptionValue, SecretReference

Kind = Literal["text", "number", "flag", "retention", "columns", "name"]


def options(cursor: Cursor, allowed: Mapping[str, Kind]) -> tuple[Option, ...]:
    """Take `(NAME [=] value, ..)`; the names are those of `allowed`, each at most once."""
    cursor.expect("(")
    if cursor.accept(")"):
        return ()
    taken: dict[str, Option] = {}
    while True:
        at = cursor.token.start
        one = option(cursor, allowed)
        if one.name in taken:
            cursor.fail(f"{one.name} specified more than once", at)
        taken[one.name] = one
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(taken.values())


def option(cursor: Cursor, allowed: Mapping[str, Kind]) -> Option:
    """Take one `NAME [=] value`."""
    at = cursor.at()
    for name in sorted(allowed, key=len, reverse=True):
        if cursor.accept(*name.split()):
            return Option(name, _value(cursor, allowed[name]), at)
    return _unknown(cursor, list(allowed))


def _unknown(cursor: Cursor, names: list[str]) -> NoReturn:
    """Name what could stand here: the first words, or the second ones after a first."""
    firsts = list(dict.fromkeys(name.split()[0] for name in names))
    first = cursor.accept_one_of(*firsts)
    if first is None:
        cursor.one_of(*firsts)
    seconds = [name.split()[1] for name in names if name.split()[0] == first]
    cursor.one_of(*dict.fromkeys(seconds))
    cursor.expected("option value")


def _value(cursor: Cursor, kind: Kind) -> OptionValue:
    if kind == "flag":
        return _flag(cursor)
    cursor.accept("=")
    if kind == "retention":
        cursor.expect("FOR")
        return cursor.string()
    match kind:
        case "number":
            return number(cursor)
        case "columns":
            return cursor.parenthesized(lambda: _column(cursor))
        case "name":
            return cursor.name()
        case _:
            return _text(cursor)


def _column(cursor: Cursor) -> Name:
    """A column with the table, schema and database that it is of, as far as they are named."""
    at, parts = cursor.at(), [cursor.identifier()]
    while cursor.accept("."):
        parts.append(cursor.identifier())
    return Name(tuple(parts), at)


def _flag(cursor: Cursor) -> bool:
    given = cursor.accept("=")
    if not given and cursor.token.key in (",", ")"):
        return True
    if cursor.token.kind == "string" and cursor.token.text.lower() in ("true", "false"):
        return cursor.string().lower() == "true"
    return cursor.one_of("TRUE", "FALSE") == "TRUE"


def number(cursor: Cursor) -> str:
    """Take a number, bare (with its sign) or in quotes, as text."""
    if cursor.token.kind == "string":
        return cursor.string()
    sign = "-" if cursor.accept("-") else ""
    if cursor.token.kind != "number":
        cursor.expected("literal number")
    cursor.index += 1
    return sign + cursor.tokens[cursor.index - 1].text


def _text(cursor: Cursor) -> OptionValue:
    token = cursor.token
    if token.kind == "string":
        return cursor.string()
    if token.kind == "number" or token.key == "-":
        return number(cursor)
    if token.key == "SECRET":
        cursor.accept("SECRET")
        return SecretReference(cursor.name())
    if not cursor.at_identifier():
        cursor.expected("option value")
    return cursor.identifier()
