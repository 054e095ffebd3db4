"""How a table differs from what its upstream reference is now."""

from __future__ import annotations

from typing import Any

from catalog.models import SourceReference, TableDetails

Columns = list[dict[str, Any]]


def drift_of(table: TableDetails, reference: SourceReference | None) -> tuple[str, ...]:
    """One line per difference that the last refresh saw; excluded columns are none."""
    if reference is None:
        return (f"table {table.namespace}.{table.reference} is not published any more",)
    if table.identity and reference.identity and table.identity != reference.identity:
        return (f"table {table.namespace}.{table.reference} was dropped and made again",)
    here = {column["upstream_name"]: column for column in table.export_columns}
    there = {column["name"]: column for column in reference.columns}
    lines = [
        *(f'column "{name}" was dropped' for name in here if name not in there),
        *(
            f'column "{name}" was added'
            for name in there
            if name not in here and name not in table.exclude_columns
        ),
        *(
            f'column "{name}" is {there[name]["type_name"]} now'
            for name, column in here.items()
            if name in there and _retyped(column, there[name])
        ),
    ]
    return tuple(lines)


def _retyped(here: dict[str, Any], there: dict[str, Any]) -> bool:
    same = here["upstream_oid"] == there["type_oid"]
    return not (same and here["upstream_modifier"] == there["type_modifier"])
