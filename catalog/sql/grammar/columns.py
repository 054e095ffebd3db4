"""Column definitions of a plain table: name, type, constraints."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.errors import UnknownItem
from catalog.sql.body import take_expression
from catalog.sql.cursor import Cursor
from catalog.sql.keywords import RESERVED
from catalog.sql.nodes.table import ColumnDefinition
from ingest.contract.types import Type

_REFUSED = ("UNIQUE", "CHECK", "REFERENCES", "FOREIGN", "COLLATE", "GENERATED")
_SECOND_WORDS = {"double": ("PRECISION",), "character": ("VARYING",), "char": ("VARYING",)}
_AFTER_DEFAULT = (("NOT", "NULL"), ("PRIMARY", "KEY"), ("CONSTRAINT",), ("UNIQUE",), ("CHECK",))


@dataclass
class _Options:
    nullable: bool = True
    default: str | None = None
    primary_key: bool = False


def column_definition(cursor: Cursor) -> ColumnDefinition:
    """Take `name type [NOT NULL] [DEFAULT expr] [PRIMARY KEY]`."""
    at = cursor.at()
    _refuse_constraint(cursor)
    name = cursor.identifier("column name or constraint definition")
    kind, options = column_type(cursor), _Options()
    while not (cursor.peek(",") or cursor.peek(")") or cursor.at_end()):
        _column_option(cursor, options)
    return ColumnDefinition(name, kind, options.nullable, options.default, options.primary_key, at)


def primary_key(cursor: Cursor) -> tuple[str, ...]:
    """Take `[CONSTRAINT name] PRIMARY KEY (c, ..)`, if it comes next."""
    if cursor.accept("CONSTRAINT"):
        cursor.identifier()
        if not cursor.peek("PRIMARY", "KEY"):
            _refuse_constraint(cursor)
            cursor.expected("PRIMARY KEY")
    if not cursor.accept("PRIMARY", "KEY"):
        return ()
    return cursor.parenthesized(cursor.identifier)


def column_type(cursor: Cursor) -> Type:
    """Take a type as PostgreSQL spells it. Raises UnknownItem for one that is not known."""
    start = cursor.token.start
    if cursor.token.kind not in ("word", "quoted"):
        cursor.expected("a data type name")
    words = _type_words(cursor)
    modifiers = _modifiers(cursor)
    words += _time_zone(cursor)
    modifiers = modifiers or _modifiers(cursor)
    text = " ".join(words) + modifiers + _dimensions(cursor)
    try:
        return Type.parse(text)
    except ValueError:
        message = f'type "{text}" does not exist'
        raise UnknownItem(message, position=start) from None


def _type_words(cursor: Cursor) -> list[str]:
    name = cursor.identifier("a data type name")
    while cursor.accept("."):
        name = cursor.identifier()
    second = cursor.accept_one_of(*_SECOND_WORDS.get(name, ()))
    return [name, *([second.lower()] if second else []), *_time_zone(cursor)]


def _time_zone(cursor: Cursor) -> list[str]:
    for word in ("WITH", "WITHOUT"):
        if cursor.accept(word, "TIME", "ZONE"):
            return [word.lower(), "time", "zone"]
    return []


def _modifiers(cursor: Cursor) -> str:
    if not cursor.peek("("):
        return ""
    return "(" + ",".join(cursor.parenthesized(lambda: _integer(cursor))) + ")"


def _dimensions(cursor: Cursor) -> str:
    text = ""
    while cursor.accept("["):
        if cursor.token.kind == "number":
            cursor.index += 1
        cursor.expect("]")
        text += "[]"
    return text


def _integer(cursor: Cursor) -> str:
    token = cursor.token
    if token.kind != "number" or not token.text.isdigit():
        cursor.expected("literal int")
    cursor.index += 1
    return token.text


def _column_option(cursor: Cursor, options: _Options) -> None:
    if cursor.accept("CONSTRAINT"):
        cursor.identifier()
    if cursor.accept("NOT", "NULL"):
        options.nullable = False
    elif cursor.accept("PRIMARY", "KEY"):
        options.primary_key = True
    elif cursor.accept("DEFAULT"):
        options.default = take_expression(cursor, *_AFTER_DEFAULT).canonical
    elif not cursor.accept("NULL"):
        _refuse_constraint(cursor)
        cursor.expected("column option")


def _refuse_constraint(cursor: Cursor) -> None:
    key = cursor.token.key
    if key in _REFUSED and (
        key.lower() in RESERVED or cursor.tokens[cursor.index + 1].key in ("(", "KEY", ",", ")")
    ):
        name = "FOREIGN KEY" if key == "FOREIGN" else key
        cursor.not_supported(f"{name} constraints are not supported")
