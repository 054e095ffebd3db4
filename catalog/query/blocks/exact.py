"""Answers that the rows alone decide: ties broken, and what cannot be made exact."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.aggregates import SPARK_AGGREGATES
from catalog.query.blocks.shape import aggregates, items, own, plain
from catalog.query.build import number

_ORDERED = frozenset({"ROW_NUMBER", "NTILE", "LAG", "LEAD"})
_INEXACT = frozenset(name for name in SPARK_AGGREGATES if name.startswith(("STD", "VAR_", "COLL")))
_FLOATS = ("DOUBLE", "FLOAT")


def settle(query: exp.Query) -> None:
    """Make the order of windows and of LIMIT total, and drop ORDER BY elsewhere; in place.

    Rows that still tie are equal in everything that the query makes of them.
    """
    for select in list(query.find_all(exp.Select)):
        if select.args.get("limit") or select.args.get("offset"):
            _settle_limit(select)
        else:
            select.set("order", None)
        for window in own(*select.expressions):
            if isinstance(window, exp.Window) and _counts_rows(window):
                _settle_window(window, select)


def _settle_limit(select: exp.Select) -> None:
    order = select.args.get("order")
    keys = order.expressions if order else []
    done = {int(k.this.name) for k in keys if isinstance(k.this, exp.Literal)}
    missing = [i for i in range(1, len(select.expressions) + 1) if i not in done]
    more = [_ascending(number(i)) for i in missing]
    select.set("order", exp.Order(expressions=[*keys, *more]))


def _ascending(node: exp.Expr) -> exp.Ordered:
    return exp.Ordered(this=node.copy(), desc=False, nulls_first=False)


def _called(window: exp.Window) -> str:
    inner = window.this.this if isinstance(window.this, exp.Filter) else window.this
    return str(inner.this) if isinstance(inner, exp.Anonymous) else ""


def _counts_rows(window: exp.Window) -> bool:
    """Whether the place of a row among its peers matters."""
    name, spec = _called(window), window.args.get("spec")
    if name in _ORDERED or (spec is not None and str(spec.args.get("kind")).upper() == "ROWS"):
        return True
    return name == "FIRST_VALUE" and spec is None


def _settle_window(window: exp.Window, select: exp.Select) -> None:
    order = window.args.get("order")
    keys = order.expressions if order else []
    done = {plain(key.this) for key in keys}
    done |= {plain(key) for key in window.args.get("partition_by") or []}
    more = [_ascending(node) for node in _row(select) if node not in done]
    if keys or more:
        window.set("order", exp.Order(expressions=[*keys, *more]))


def _row(select: exp.Select) -> list[exp.Expr]:
    """Everything of a row that the query's answer is made of."""
    group = select.args.get("group")
    if aggregates(select):
        return [plain(key) for key in group.expressions] if group else []
    aliases = {item.alias for item in items(select)} | {""}
    found: dict[exp.Expr, None] = {}
    for node in own(*select.expressions):
        if isinstance(node, exp.Column) and node.table in aliases and not _bound(node):
            found[node.copy()] = None
    return list(found)


def _bound(node: exp.Column) -> bool:
    """Whether a lambda gives the name its meaning."""
    around = node.parent
    while around is not None:
        if isinstance(around, exp.Lambda):
            names = {parameter.name for parameter in around.expressions}
            if node.name in names or node.table in names:
                return True
        around = around.parent
    return False


def is_exact(select: exp.Select) -> bool:
    """Whether the same rows, in any order, always give the same answer."""
    for node in own(*select.expressions, select.args.get("having")):
        if isinstance(node, exp.Anonymous) and not _is_exact_call(node):
            return False
        if isinstance(node, exp.Window) and not _is_exact_window(node):
            return False
    return True


def _is_exact_window(node: exp.Window) -> bool:
    return _called(node) not in ("LAST_VALUE", "NTH_VALUE") or _counts_rows(node)


def _is_exact_call(node: exp.Anonymous) -> bool:
    if node.this in _INEXACT or node.this == "AVG":
        return False
    if node.this != "SUM":
        return True
    around = node.parent
    while isinstance(around, exp.Filter | exp.Window):
        around = around.parent
    floats = isinstance(around, exp.Cast) and around.to.sql(dialect="spark").upper() in _FLOATS
    return not floats
