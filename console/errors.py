"""One statement error told to every kind of client: a form, a REST client, a frame, psql."""

from __future__ import annotations

from typing import Any

from catalog.errors import UpstreamProblem
from ingest.errors import HeadraceError


def to_dict(error: HeadraceError, sql: str | None = None) -> dict[str, Any]:
    """Message, code, detail, hint, position, line, column (1-based) and checks; None where there
    is none. `sql` is the text that the position is in."""
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    if sql is not None and error.position is not None:
        line, column = place(sql, error.position)
    return {
        "message": error.message,
        "code": error.sqlstate,
        "severity": "error",
        "detail": error.detail,
        "hint": error.hint,
        "position": None if error.position is None else error.position + 1,
        "line": line,
        "column": column,
        "checks": _checks(error),
    }


def place(sql: str, position: int) -> tuple[int, int]:
    """Line and column, both 1-based, of a 0-based offset."""
    before = sql[: max(position, 0)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _checks(error: HeadraceError) -> list[dict[str, str]]:
    if not isinstance(error, UpstreamProblem):
        return []
    return [
        {
            "name": check.name,
            "level": check.level,
            "summary": check.summary,
            "cause": check.cause,
            "fix": check.fix,
            "upstream_sql": check.upstream_sql,
        }
        for check in error.checks
    ]
