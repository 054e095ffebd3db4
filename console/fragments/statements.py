"""Stored statements laid out for people to read and to compare."""

from __future__ import annotations

from catalog.sql import parse_one, render_pretty
from console.fragments.definition import defined, whole
from ingest.errors import HeadraceError

_BREAKS = (" FROM ", " FOR ", " WITH (", " (REFERENCE", " OF SOURCE ", " EXPOSE ", " FORMAT ")


def pretty(sql: str) -> str:
    """The statement over several lines; what is none (a built-in's shape) a column a line."""
    if not sql:
        return ""
    if not sql.startswith("CREATE "):
        return sql.replace(" (", " (\n  ").replace(", ", ",\n  ")
    try:
        if defined(sql) is not None:
            return whole(sql)
        return render_pretty(parse_one(sql).statement)
    except HeadraceError:
        return broken(sql)


def broken(sql: str) -> str:
    """A text that is not parsed here any more, with lines broken before its clauses."""
    for word in _BREAKS:
        sql = sql.replace(word, "\n  " + word.strip() + (" " if word.endswith(" ") else ""))
    return sql
