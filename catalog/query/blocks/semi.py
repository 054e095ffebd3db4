"""IN and EXISTS in WHERE, as semi and anti joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from catalog.query.blocks.linear import is_linear
from catalog.query.blocks.shape import (
    Recompute,
    column,
    conjuncts,
    derived,
    items,
    joins,
    named,
    outputs,
    plain,
    subqueries,
)
from catalog.query.build import binary

if TYPE_CHECKING:
    from catalog.query.blocks.cutter import Cutter


def joined(cutter: Cutter, select: exp.Select) -> exp.Select:
    """The same query with subqueries in WHERE as joins.

    Raises Recompute for what is not a plain IN, EXISTS or NOT EXISTS that all rows must pass.
    """
    copy = select.copy()
    rest: list[exp.Expr] = []
    added: list[exp.Join] = []
    aliases = {item.alias for item in items(copy)}
    for node in conjuncts(copy.args.get("where")):
        if subqueries(node):
            added.append(_join(node, aliases, cutter.fresh("x")))
        else:
            rest.append(node.copy())
    copy.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    copy.set("joins", [*joins(copy), *added])
    return copy


def _join(node: exp.Expr, aliases: set[str], alias: str) -> exp.Join:
    negative = isinstance(node, exp.Not)
    test = plain(node.this) if negative else node
    if isinstance(test, exp.Exists) and isinstance(test.this, exp.Query):
        found, tests = _correlated(test.this, aliases, alias)
    elif isinstance(test, exp.In) and test.args.get("query") and not negative:
        found, tests = _member(test, aliases, alias)
    else:
        raise Recompute("a subquery in WHERE that is not a plain IN or EXISTS")
    if not tests:
        raise Recompute("a subquery in WHERE that compares no columns")
    kind = "ANTI" if negative else "SEMI"
    return exp.Join(this=derived(found, alias), side="LEFT", kind=kind, on=exp.and_(*tests))


def _member(test: exp.In, aliases: set[str], alias: str) -> tuple[exp.Query, list[exp.Expr]]:
    left = test.this.expressions if isinstance(test.this, exp.Tuple) else [test.this]
    inner = test.args["query"].unnest()
    if test.this.find(exp.Query):
        raise Recompute("a subquery inside IN")
    found: exp.Query = inner.copy()
    tests: list[exp.Expr] = []
    if _outside(inner, aliases):
        found, tests = _correlated(inner, aliases, alias)
    names = outputs(found)
    pairs = zip(left, names[: len(left)], strict=True)
    return found, [*(binary(exp.EQ, a, column(name, alias)) for a, name in pairs), *tests]


def _correlated(
    query: exp.Query, aliases: set[str], alias: str
) -> tuple[exp.Query, list[exp.Expr]]:
    """The query without the conditions that look outside, and those over its columns."""
    if not isinstance(query, exp.Select) or not is_linear(query):
        raise Recompute("a correlated subquery that is more than a filter")
    copy = query.copy()
    own = conjuncts(copy.args.get("where"))
    tests = [node for node in own if _outside(node, aliases)]
    kept = [node for node in own if not _outside(node, aliases)]
    copy.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    if _outside(copy, aliases):
        raise Recompute("a correlated subquery that is more than a filter")
    mine = {item.alias for item in items(copy)}
    used: dict[exp.Expr, str] = {}
    moved = [exp.Paren(this=node.copy()) for node in tests]
    for node in moved:
        for found in list(node.find_all(exp.Column)):
            if found.table in mine:
                name = used.setdefault(found.copy(), f"s{len(used) + 1}")
                found.replace(column(name, alias))
    kept_outputs = [*copy.expressions, *(named(node, name) for node, name in used.items())]
    copy.set("expressions", kept_outputs)
    return copy, list(moved)


def _outside(node: exp.Expr, aliases: set[str]) -> bool:
    return any(found.table in aliases for found in node.find_all(exp.Column))
