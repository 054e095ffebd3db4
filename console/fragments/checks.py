"""The items of a validation, whether it passed or failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from catalog.errors import UpstreamProblem
from catalog.results import Result, Rows
from catalog.text_values import text_rows
from ingest.contract.upstream import Check, Level
from ingest.errors import HeadraceError

_FIELDS = ("name", "level", "summary", "cause", "fix", "upstream_sql")
_SPELT = {"check": "name"}
"""Columns of VALIDATE CONNECTION that a check calls otherwise."""
_LEVELS = ("ok", "warning", "error")


def checks_of_results(results: Sequence[Result]) -> tuple[Check, ...]:
    """What VALIDATE CONNECTION answered: one row per check."""
    return tuple(
        check for result in results if isinstance(result, Rows) for check in _of_rows(result)
    )


def _of_rows(rows: Rows) -> list[Check]:
    names = rows.relation.names
    found = []
    for row in text_rows(rows.relation, rows.data):
        fields = {_SPELT.get(n, n): text or "" for n, text in zip(names, row, strict=True)}
        level = cast(Level, fields["level"]) if fields.get("level") in _LEVELS else "ok"
        texts = {name: fields.get(name, "") for name in _FIELDS if name != "level"}
        found.append(Check(level=level, **texts))
    return found


def checks_of_error(error: HeadraceError) -> tuple[Check, ...]:
    """What a failed statement says of its upstream; empty for other failures."""
    return error.checks if isinstance(error, UpstreamProblem) else ()
