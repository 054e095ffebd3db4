"""ORDER BY .. LIMIT at the top of a query: the first rows of what is below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from catalog.query.blocks.cuts import Cut
from catalog.query.blocks.shape import Recompute, check, column, plain

if TYPE_CHECKING:
    from catalog.query.blocks.cutter import Cutter


def cut(cutter: Cutter, select: exp.Select) -> Cut:
    """The block of a settled SELECT with LIMIT.

    Raises Recompute when it is ordered by what it does not give, or skips rows.
    """
    if select.args.get("offset"):
        raise Recompute("OFFSET")
    limit = int(select.args["limit"].expression.name)
    order = _order(select)
    every = select.copy()
    every.set("limit", None)
    every.set("order", None)
    check(every)
    name = cutter.fresh("b")
    return Cut("topk", select, {name: cutter.cut(every)}, order=order, limit=limit)


def _order(select: exp.Select) -> tuple[exp.Ordered, ...]:
    """The sort keys over the query's own columns."""
    names = {plain(node): node.alias_or_name for node in reversed(select.expressions)}
    ordered = [node.alias_or_name for node in select.expressions]
    keys: list[exp.Ordered] = []
    for key in select.args["order"].expressions:
        node = key.this
        if isinstance(node, exp.Literal) and not node.is_string:
            name: str | None = ordered[int(node.name) - 1]
        else:
            name = names.get(plain(node))
        if name is None:
            raise Recompute("ORDER BY .. LIMIT by what is not one of the columns")
        again = key.copy()
        again.set("this", column(name))
        keys.append(again)
    return tuple(keys)
