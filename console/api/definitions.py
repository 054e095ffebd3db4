"""Views and replacements as requests name them: found, built from a body, shown."""

from __future__ import annotations

from typing import Any

from catalog.errors import InvalidStatement, UnknownItem
from catalog.reads import ViewRow
from catalog.reads import views as maintained
from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.query import Select
from catalog.sql.parse import parse_one
from console.fragments.staged import window_words

_GUARDS = (("MAX ROWS", "max_rows"), ("MAX PERCENT", "max_percent"), ("WINDOW", "window"))


def view_of(item_id: str) -> ViewRow:
    """The view with that id. Raises UnknownItem, for a replacement too."""
    found = maintained.view(item_id)
    if found is None or found.target is not None:
        message = f'unknown materialized view "{item_id}"'
        raise UnknownItem(message)
    return found


def replacement_of(item_id: str) -> ViewRow:
    """The replacement with that id. Raises UnknownItem."""
    found = maintained.view(item_id)
    if found is None or found.target is None:
        message = f'unknown replacement "{item_id}"'
        raise UnknownItem(message)
    return found


def select_in(text: str) -> Select:
    """The SELECT that a body's `query` is. Raises StatementError."""
    query = parse_one(text).statement
    if not isinstance(query, Select) or query.as_of is not None:
        raise InvalidStatement("a view needs a SELECT without AS OF")
    return query


def cluster_in(body: dict[str, Any]) -> Name | None:
    """The cluster that a body names."""
    return Name((body["cluster"],)) if "cluster" in body else None


def guard_options(guard: dict[str, Any] | None) -> tuple[Option, ...]:
    """Guard rails as options; none when a person applies it."""
    if not guard or not guard["automatic"]:
        return ()
    limits = [Option(name, _text(guard[field])) for name, field in _GUARDS if field in guard]
    return (Option("APPLY WHEN HYDRATED", value=True), *limits)


def _text(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def guard_body(row: ViewRow) -> dict[str, Any]:
    """Guard rails as they are shown."""
    window = row.guard.get("window")
    return {
        "automatic": bool(row.guard),
        "max_rows": row.guard.get("rows"),
        "max_percent": row.guard.get("percent"),
        "window": window_words(window) if window else None,
    }


def replacement_body(row: ViewRow) -> dict[str, Any]:
    """What the replacement's shape is made from."""
    return {name: getattr(row, name) for name in ViewRow.__dataclass_fields__} | {
        "guard": guard_body(row)
    }
