"""SUBSCRIBE, and TAIL, its first name."""

from __future__ import annotations

from catalog.sql.body import Body, take_expression, take_query
from catalog.sql.cursor import Cursor
from catalog.sql.grammar.options import Kind, options
from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.subscribe import Envelope, Ordering, Subscribe

SUBSCRIBE_OPTIONS: dict[str, Kind] = {"SNAPSHOT": "flag", "PROGRESS": "flag"}
_AFTER_TIME = (("AS", "OF"), ("UP", "TO"), ("ENVELOPE",), ("WITHIN", "TIMESTAMP"))
Output = tuple[Envelope, tuple[Name, ...], tuple[Ordering, ...]]
_PLAIN: Output = ("none", (), ())


def subscribe(cursor: Cursor) -> Subscribe:
    """After `SUBSCRIBE`. The output's form may stand before the options or at the end."""
    cursor.accept("TO")
    name, select = _subject(cursor)
    output = _output(cursor)
    given = _options(cursor)
    as_of, at_least = _as_of(cursor)
    up_to = take_expression(cursor, *_AFTER_TIME) if cursor.accept("UP", "TO") else None
    if output == _PLAIN:
        output = _output(cursor)
    envelope, key, order = output
    return Subscribe(
        name,
        select,
        envelope,
        key,
        order,
        given,
        as_of.tree if as_of else None,
        at_least,
        as_of.canonical if as_of else "",
        up_to.tree if up_to else None,
        up_to.canonical if up_to else "",
    )


def _subject(cursor: Cursor) -> tuple[Name | None, Select | None]:
    if not cursor.accept("("):
        return cursor.name(), None
    body = take_query(cursor)
    cursor.expect(")")
    return None, Select(body.query, body.text, body=body.canonical)


def _output(cursor: Cursor) -> Output:
    if cursor.accept("ENVELOPE"):
        envelope: Envelope = (
            "upsert" if cursor.one_of("UPSERT", "DEBEZIUM") == "UPSERT" else "debezium"
        )
        cursor.expect("(", "KEY")
        key = cursor.parenthesized(lambda: _column(cursor))
        cursor.expect(")")
        return envelope, key, ()
    if cursor.accept("WITHIN"):
        cursor.expect("TIMESTAMP", "ORDER", "BY")
        return "none", (), cursor.listed(lambda: _ordering(cursor))
    return _PLAIN


def _ordering(cursor: Cursor) -> Ordering:
    column = _column(cursor)
    descending = cursor.accept_one_of("ASC", "DESC") == "DESC"
    nulls_first = None
    if cursor.accept("NULLS"):
        nulls_first = cursor.one_of("FIRST", "LAST") == "FIRST"
    return Ordering(column, descending, nulls_first)


def _column(cursor: Cursor) -> Name:
    at = cursor.at()
    return Name((cursor.identifier("column name"),), at)


def _options(cursor: Cursor) -> tuple[Option, ...]:
    """`WITH (..)`; the brackets may be left out for one, and WITHOUT SNAPSHOT is the seed's."""
    if cursor.accept("WITHOUT", "SNAPSHOT"):
        return (Option("SNAPSHOT", False),)  # noqa: FBT003 (an option's value)
    if not cursor.accept("WITH"):
        return ()
    if cursor.accept("SNAPSHOT"):
        return (Option("SNAPSHOT", True),)  # noqa: FBT003 (an option's value)
    return options(cursor, SUBSCRIBE_OPTIONS)


def _as_of(cursor: Cursor) -> tuple[Body | None, bool]:
    if not cursor.accept("AS", "OF"):
        return None, False
    at_least = cursor.accept("AT", "LEAST")
    return take_expression(cursor, *_AFTER_TIME), at_least
