"""`cast` without Spark, for the plain forms that nearly all texts have.

A batch with one text that is not plain is left to Spark as a whole, so that there is one authority
on what does not fit. What is typed here is what Spark makes of it, type for type.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ingest.contract.commands import ExportColumn
from ingest.contract.types import Type

_DAY = r"(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2}"
_CLOCK = r" [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
_WHOLE = r"^-?[0-9]{1,18}$"
_REAL = r"^-?[0-9]{1,17}(\.[0-9]{1,30})?(e[+-][0-9]{1,2})?$"
_FORMS: dict[str, tuple[str, pa.DataType]] = {
    "smallint": (_WHOLE, pa.int16()),
    "int": (_WHOLE, pa.int32()),
    "bigint": (_WHOLE, pa.int64()),
    "float": (_REAL, pa.float32()),
    "double": (_REAL, pa.float64()),
    "date": (f"^{_DAY}$", pa.date32()),
    "timestamp_ntz": (f"^{_DAY}{_CLOCK}$", pa.timestamp("us")),
    "timestamp": (rf"^{_DAY}{_CLOCK}\+00$", pa.timestamp("us", "UTC")),
}
_UNSIGNED = frozenset({"oid", "uint4", "uint8", "mz_timestamp"})


def cells(rows: pa.Array, place: int) -> pa.Array:
    """The texts at a place (from 0) of rows of texts; null where a row is null or shorter."""
    starts = rows.offsets.slice(0, len(rows))
    there = pc.greater(pc.fill_null(pc.list_value_length(rows), 0), place)
    none = pa.scalar(None, starts.type)
    found: pa.Array = rows.values.take(pc.if_else(there, pc.add(starts, place), none))
    return found


def typed(texts: pa.Array, kind: Type) -> pa.Array | None:
    """The values of the texts as `kind`; None when Spark is to be asked."""
    if kind.array:
        return None
    if kind.spark == "string":
        return texts
    if kind.name == "boolean":
        return pc.equal(texts, "t") if _all_are(texts, "^[tf]$") else None
    form, wanted = _form(kind)
    if wanted is None or not _all_are(texts, form):
        return None
    if kind.name in _UNSIGNED and not _all_are(texts, "^[0-9]"):
        return None
    try:
        return pc.cast(texts, wanted)
    except pa.ArrowInvalid:
        return None


def values(rows: pa.Array, columns: Sequence[ExportColumn]) -> list[pa.Array] | None:
    """Every column of a table from log rows' arrays; None when Spark is to be asked."""
    found = [typed(cells(rows, c.upstream_position - 1), c.type) for c in columns]
    made = [values for values in found if values is not None]
    return made if len(made) == len(found) else None


def _form(kind: Type) -> tuple[str, pa.DataType | None]:
    if kind.name != "numeric":
        return _FORMS.get(kind.spark, ("", None))
    precision, scale = (kind.precision, kind.scale or 0) if kind.precision else (38, 18)
    if not 0 <= scale < precision <= 38:
        return "", None
    fraction = rf"(\.[0-9]{{1,{scale}}})?" if scale else ""
    return f"^-?[0-9]{{1,{precision - scale}}}{fraction}$", pa.decimal128(precision, scale)


def _all_are(texts: pa.Array, form: str) -> bool:
    return pc.all(pc.match_substring_regex(texts, form)).as_py() is not False
