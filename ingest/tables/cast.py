"""PostgreSQL text to Spark values, as column expressions.

A value that has no faithful form here (`infinity`, `NaN` in a numeric, a year before Christ, too
many digits) becomes null and `fits` says false: such a row goes to the table's quarantine. Nothing
here raises, whatever upstream sends.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql.connect import functions as F

from ingest.contract.commands import ExportColumn, Input
from ingest.contract.types import Type
from ingest.tables import trees

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r" [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
_SHAPES = {
    "smallint": r"^-?[0-9]+$",
    "integer": r"^-?[0-9]+$",
    "bigint": r"^-?[0-9]+$",
    "oid": r"^[0-9]+$",
    "uint4": r"^[0-9]+$",
    "uint8": r"^[0-9]+$",
    "mz_timestamp": r"^[0-9]+$",
    "date": f"^{_DAY}$",
    "timestamp": f"^{_DAY}{_CLOCK}$",
    "timestamp with time zone": f"^{_DAY}{_CLOCK}[+-][0-9]{{2}}(:[0-9]{{2}}){{0,2}}$",
}
_ONE_TEXT = frozenset({"string", "bigint", "int", "smallint", "date"})
_BYTEA = r"^\\x([0-9a-fA-F]{2})*$"
_BOUNDS = r"^(\[-?[0-9]+:-?[0-9]+\])+="
_QUOTED = r'(?s)"(?:[^"\\]|\\.)*"'
_ELEMENT = _QUOTED + r'|[^,{}"]+'


def known_by_text(source: Input) -> bool:
    """Whether upstream writes each of the key's values in one way only, unlike 1.0 and 1.00."""
    kinds = {column.name: column.type.spark for column in source.columns}
    return {kinds[name] for name in source.key} <= _ONE_TEXT


def cell(row: Column, column: ExportColumn) -> Column:
    """The text of one column in a log row's array; null when the array is shorter."""
    return F.get(row, column.upstream_position - 1)


def typed(text: Column, kind: Type) -> Column:
    """The value of `text` as `kind`; null when it has none."""
    if kind.array:
        element = replace(kind, array=False)
        values = F.transform(_elements(text), lambda token: typed(_unquoted(token), element))
        return F.when(_is_flat(text), values)
    return _scalar(text, kind)


def fits(text: Column, kind: Type) -> Column:
    """Whether `text` is null or has a value as `kind`; never null."""
    if kind.array:
        element = replace(kind, array=False)
        every = F.forall(_elements(text), lambda token: fits(_unquoted(token), element))
        return text.isNull() | (_is_flat(text) & every)
    if kind.spark == "string":
        return F.lit(True)  # noqa: FBT003
    return text.isNull() | _scalar(text, kind).isNotNull()


def values(row: Column, columns: Sequence[ExportColumn]) -> list[Column]:
    """Every column of a table from a log row's array, named and typed."""
    return [typed(cell(row, c), c.type).cast(c.type.spark).alias(c.name) for c in columns]


def text(value: Column, kind: Type) -> Column:
    """The other way: the text that `typed` makes this very value of."""
    if kind.array:
        element = replace(kind, array=False)
        tokens = F.transform(value, lambda one: _token(text(one, element)))
        return F.concat(F.lit("{"), F.array_join(tokens, ","), F.lit("}"))
    if kind.name == "boolean":
        return F.when(value, "t").when(~value, "f")
    if kind.spark == "binary":
        return F.concat(F.lit("\\x"), F.lower(F.hex(value)))
    if kind.name == "timestamp with time zone":
        return F.concat(value.cast("string"), F.lit("+00"))
    return value.cast("string")


def _token(element: Column) -> Column:
    escaped = F.regexp_replace(element, F.lit(r'(["\\\\])'), F.lit(r"\\$1"))
    quoted = F.concat(F.lit('"'), escaped, F.lit('"'))
    return F.coalesce(quoted, F.lit("NULL"))


def all_fit(row: Column, columns: Sequence[ExportColumn]) -> Column:
    """Whether every column of the row has a value here."""
    checks = [fits(cell(row, c), c.type) for c in columns if c.type.spark != "string"]
    return trees.join(operator.and_, checks or [F.lit(True)])  # noqa: FBT003


def reason(row: Column, columns: Sequence[ExportColumn]) -> Column:
    """Why the row does not fit, in PostgreSQL's words, for its first bad column; else null."""
    found = [
        F.when(
            ~fits(cell(row, c), c.type),
            F.concat(
                F.lit(f'column "{c.name}": invalid input for type {c.type.sql}: "'),
                F.substring(cell(row, c), 1, 200),
                F.lit('"'),
            ),
        )
        for c in columns
    ]
    return F.coalesce(*found, F.lit(None).cast("string"))


def _scalar(text: Column, kind: Type) -> Column:
    if kind.name == "boolean":
        return F.when(text == "t", True).when(text == "f", False)  # noqa: FBT003
    if kind.name == "bytea":
        return F.when(text.rlike(_BYTEA), F.unhex(F.substring(text, 3, 2**31 - 1)))
    if kind.name == "numeric":
        scale = kind.scale if kind.precision else 18
        exact = text.rlike(rf"^-?[0-9]+(\.[0-9]{{0,{scale}}}0*)?$")
        return F.when(exact, text.try_cast(kind.spark))
    if kind.name in _SHAPES:
        return F.when(text.rlike(_SHAPES[kind.name]), text.try_cast(kind.spark))
    return text if kind.spark == "string" else text.try_cast(kind.spark)


def _elements(text: Column) -> Column:
    body = F.regexp_replace(text, F.lit(_BOUNDS), F.lit(""))
    return F.regexp_extract_all(body, F.lit(_ELEMENT), F.lit(0))


def _is_flat(text: Column) -> Column:
    """One dimension: Spark's array types here have one, PostgreSQL's have any number."""
    bare = F.regexp_replace(text, F.lit(_QUOTED), F.lit("q"))
    return bare.rlike(r"^(\[-?[0-9]+:-?[0-9]+\]=)?\{[^{}]*\}$")


def _unquoted(token: Column) -> Column:
    inner = F.substring(token, F.lit(2), F.length(token) - 2)
    plain = F.regexp_replace(inner, F.lit(r"(?s)\\(.)"), F.lit("$1"))
    return F.when(token.startswith('"'), plain).when(F.upper(token) != "NULL", token)
