"""A result's rows and notices as JSON, in the field's way.

Numbers are strings, because JSON's are not exact; null is null; booleans, arrays and jsonb are
JSON's own; everything else is PostgreSQL's text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from catalog.results import Notice
from catalog.text_values import texts
from ingest.contract.relation import Relation
from ingest.contract.types import Type


def json_rows(relation: Relation, data: pa.Table) -> list[Sequence[Any]]:
    """The rows, one list of JSON values each."""
    if not relation.columns:
        return [[] for _ in range(data.num_rows)]
    columns = [
        _values(data.column(index).combine_chunks(), column.type)
        for index, column in enumerate(relation.columns)
    ]
    return list(zip(*columns, strict=True))


def describe(relation: Relation) -> dict[str, Any]:
    """The columns' names and PostgreSQL types."""
    return {
        "columns": [
            {
                "name": column.name,
                "type_oid": column.type.oid,
                "type_len": column.type.length,
                "type_mod": column.type.modifier,
            }
            for column in relation.columns
        ]
    }


def notice_body(notice: Notice) -> dict[str, str]:
    """A notice, without the fields it does not have."""
    body = {"message": notice.message, "code": notice.code, "severity": notice.severity}
    more = {"detail": notice.detail, "hint": notice.hint}
    return body | {name: value for name, value in more.items() if value is not None}


def _values(array: Any, type_: Type) -> list[Any]:
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return _lists(array, type_)
    if pa.types.is_boolean(array.type):
        found: list[Any] = array.to_pylist()
        return found
    if type_.name in {"json", "jsonb"} and not type_.array:
        return [None if text is None else _json(text) for text in texts(array, type_)]
    return list(texts(array, type_))


def _lists(array: Any, type_: Type) -> list[Any]:
    flat = _values(array.flatten(), Type(type_.name, type_.precision, type_.scale))
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_pylist()
    found: list[Any] = []
    start = 0
    for size, valid in zip(sizes, array.is_valid().to_pylist(), strict=True):
        found.append(flat[start : start + size] if valid else None)
        start += size
    return found


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return text.strip() if is_number else value
