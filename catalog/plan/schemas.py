"""Whether one relation may stand in for another: the same columns first, more may follow."""

from __future__ import annotations

from catalog.errors import InvalidStatement
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

_SHOWN = {
    "boolean": "Bool",
    "smallint": "Int16",
    "integer": "Int32",
    "bigint": "Int64",
    "uint4": "UInt32",
    "uint8": "UInt64",
    "real": "Float32",
    "double precision": "Float64",
    "numeric": "Numeric",
    "text": "String",
    "character": "Char",
    "character varying": "VarChar",
    "bytea": "Bytes",
    "date": "Date",
    "time": "Time",
    "timestamp": "Timestamp",
    "timestamp with time zone": "TimestampTz",
    "interval": "Interval",
    "jsonb": "Jsonb",
    "uuid": "Uuid",
    "oid": "Oid",
    "mz_timestamp": "MzTimestamp",
}


def fits(target: Relation, replacement: Relation) -> None:
    """Raises InvalidStatement, one line of detail per difference, unless the columns fit."""
    lines = differences(target, replacement)
    if lines:
        message = "replacement schema differs from target schema"
        hint = "The target's columns come first, with their names and types; new ones after them."
        raise InvalidStatement(message, detail="\n".join(lines), hint=hint)


def differences(target: Relation, replacement: Relation) -> list[str]:
    """What keeps `replacement` from standing in for `target`, column by column."""
    lines: list[str] = []
    for position, column in enumerate(target.columns, 1):
        if position > len(replacement.columns):
            lines.append(f'missing column "{column.name}" at position {position}')
        else:
            lines += _difference(column, replacement.columns[position - 1], position)
    return lines


def _difference(old: Column, new: Column, position: int) -> list[str]:
    if old.name != new.name:
        names = f'(target: "{old.name}", replacement: "{new.name}")'
        return [f"column at position {position}: name mismatch {names}"]
    place = f'column "{old.name}" at position {position}'
    if old.type != new.type:
        types = f"(target: {_shown(old.type)}, replacement: {_shown(new.type)})"
        return [f"{place}: type mismatch {types}"]
    if not old.nullable and new.nullable:
        return [f"{place}: nullability mismatch (target: NOT NULL, replacement: NULL)"]
    return []


def _shown(type_: Type) -> str:
    """The type as Materialize names it inside; a modifier in parentheses."""
    name = _SHOWN.get(type_.name, type_.name)
    modifier = type_.sql.partition("(")[2].partition(")")[0]
    shown = f"{name}({modifier})" if modifier else name
    return f"List({shown})" if type_.array else shown


def joined(target: Relation, replacement: Relation) -> Relation:
    """The columns after an apply: the target's as dependents know them, then the new ones."""
    more = replacement.columns[len(target.columns) :]
    return Relation((*target.columns, *more))
