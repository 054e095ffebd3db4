"""GROUP BY: input columns first, then output names; GROUPING SETS, ROLLUP, CUBE."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.binder import Binder
from catalog.query.names import UnknownColumn
from catalog.query.ordering import Items
from catalog.query.scope import Scope

_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def bind_group(
    binder: Binder, node: exp.Select, scope: Scope, items: Items, select: exp.Select
) -> None:
    """Set GROUP BY on the Spark query."""
    group = node.args.get("group")
    if group is None:
        return
    if group.args.get("totals") or group.args.get("all"):
        raise binder.unsupported(group)
    written = [*group.expressions]
    for name in ("grouping_sets", "rollup", "cube"):
        written += group.args.get(name) or []
    keys = [_set(binder, key, scope, items) for key in written]
    select.set("group", exp.Group(expressions=keys))


def _set(binder: Binder, node: exp.Expr, scope: Scope, items: Items) -> exp.Expr:
    if isinstance(node, _SETS):
        return type(node)(expressions=[_set(binder, k, scope, items) for k in node.expressions])
    if isinstance(node, exp.Tuple):
        return exp.Tuple(expressions=[_key(binder, k, scope, items) for k in node.expressions])
    if isinstance(node, exp.Paren):
        return exp.Paren(this=_key(binder, node.this, scope, items))
    return _key(binder, node, scope, items)


def _key(binder: Binder, node: exp.Expr, scope: Scope, items: Items) -> exp.Expr:
    if isinstance(node, exp.Column) and not node.table:
        try:
            return binder.bind(node, scope).node
        except UnknownColumn:
            index = items.index(node, "GROUP BY")
            if index is None:
                raise
            return items.bounds[index].node.copy()
    index = items.index(node, "GROUP BY") if isinstance(node, exp.Literal) else None
    return items.bounds[index].node.copy() if index is not None else binder.bind(node, scope).node
