"""Two ways to lay the same clauses out: one line, or the lines of the console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 78
INDENT = "  "


@dataclass(frozen=True)
class Group:
    """`lead (item, ..)`; a broken group puts one item on a line, or fills lines with names."""

    lead: str
    items: tuple[str | Group, ...]
    fill: bool = False


Clause = str | Group


def one_line(clauses: Sequence[Clause]) -> str:
    """All clauses on one line."""
    return " ".join(_flat(clause) for clause in clauses if clause)


def lines(clauses: Sequence[Clause]) -> str:
    """One clause on a line, the later ones indented; groups break where a line is too long."""
    pieces = [
        _broken(clause, len(INDENT) if index else 0)
        for index, clause in enumerate(clause for clause in clauses if clause)
    ]
    return f"\n{INDENT}".join(pieces)


def _flat(clause: Clause) -> str:
    if isinstance(clause, str):
        return clause
    return _opened(clause) + ", ".join(_flat(item) for item in clause.items) + ")"


def _opened(group: Group) -> str:
    return f"{group.lead} (" if group.lead else "("


def _broken(clause: Clause, column: int) -> str:
    flat = _flat(clause)
    if isinstance(clause, str) or column + len(flat) <= WIDTH:
        return flat
    opened = _opened(clause)
    inner = column + len(opened)
    items = [_broken(item, inner) for item in clause.items]
    rows = _filled(items, WIDTH - inner) if clause.fill else items
    return opened + (",\n" + " " * inner).join(rows) + ")"


def _filled(items: list[str], width: int) -> list[str]:
    rows: list[str] = []
    for item in items:
        if rows and len(rows[-1]) + len(item) + 2 < width:
            rows[-1] += ", " + item
        else:
            rows.append(item)
    return rows
