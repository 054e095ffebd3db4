"""FROM items made a derived table of their own, so that each block is of one kind."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.blocks.shape import clauses, column, derived, items, joins, named, outputs


def nested(select: exp.Select, count: int, alias: str, *, where: bool = False) -> exp.Select:
    """The same query with its first `count` FROM items, and WHERE if told, in a derived table."""
    inner, outer = exp.Select(), select.copy()
    first, rest = outer.args["from_"], joins(outer)
    inner.set("from_", first)
    inner.set("joins", rest[: count - 1])
    outer.set("joins", rest[count - 1 :])
    if where and outer.args.get("where"):
        inner.set("where", outer.args["where"].pop())
    aliases = {item.alias for item in items(inner)}
    outer.set("from_", exp.From(this=derived(inner, alias)))
    used = _moved(clauses(outer), aliases, alias)
    inner.set("expressions", [named(node, name) for node, name in used.items()])
    if not used:
        inner.set("expressions", [named(exp.Literal.number(1), "c0")])
    return outer


def _moved(nodes: list[exp.Expr], aliases: set[str], alias: str) -> dict[exp.Expr, str]:
    """Point columns of the items to the derived table; the columns it must give, by their name."""
    used: dict[exp.Expr, str] = {}
    for node in nodes:
        for found in list(node.find_all(exp.Column)):
            if found.table in aliases:
                name = used.setdefault(found.copy(), f"c{len(used) + 1}")
                found.replace(column(name, alias))
    return used


def around(query: exp.Query, alias: str) -> exp.Select:
    """All columns of a query, from it as a derived table."""
    columns = [named(column(name, alias), name) for name in outputs(query)]
    return exp.Select(expressions=columns).from_(derived(query.copy(), alias))
