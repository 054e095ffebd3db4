"""Linear queries: filter, project, inner and cross join, UNION ALL."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from catalog.query.blocks.shape import (
    aggregates,
    column,
    is_outer,
    items,
    joins,
    named,
    subqueries,
    tables,
    windows,
)
from ingest.contract.views import MZ_DIFF

_ENDS = ("distinct", "limit", "offset")


def is_linear(query: exp.Expr) -> bool:
    """Whether a query's own level is linear, whatever its derived tables are."""
    if isinstance(query, exp.Subquery):
        return not query.args.get("limit") and is_linear(query.this)
    if isinstance(query, exp.Union):
        return not query.args.get("distinct") and _both(query)
    if not isinstance(query, exp.Select) or any(query.args.get(end) for end in _ENDS):
        return False
    if aggregates(query) or windows(query) or subqueries(query.args.get("where")):
        return False
    return not any(is_outer(join) for join in joins(query))


def _both(query: exp.SetOperation) -> bool:
    return is_linear(query.this) and is_linear(query.expression)


def signed(query: exp.Query, child: str) -> exp.Query:
    """The rows that a change of one child gives, with its mz_diff.

    Branches of a UNION ALL that do not read it give none.
    """
    if isinstance(query, exp.Subquery):
        return signed(query.this, child)
    if isinstance(query, exp.SetOperation):
        inside = query.this if child in tables(query.this) else query.expression
        return signed(inside, child)
    if not isinstance(query, exp.Select):
        raise TypeError(type(query))
    select = query.copy()
    for item in items(select):
        if child not in tables(item):
            continue
        if isinstance(item, exp.Subquery):
            item.set("this", signed(item.this, child))
        select.append("expressions", named(column(MZ_DIFF, item.alias), MZ_DIFF))
    return select


def used(query: exp.Query, children: Iterable[str]) -> dict[str, tuple[str, ...] | None]:
    """The columns that a query over children uses of each."""
    aliases = {table.name: table.alias for table in query.find_all(exp.Table)}
    found: dict[str, dict[str, None]] = {alias: {} for alias in aliases.values()}
    for node in query.find_all(exp.Column):
        if node.table in found:
            found[node.table][node.name] = None
    return {child: tuple(found[aliases[child]]) for child in children}
