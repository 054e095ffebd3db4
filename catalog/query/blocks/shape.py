"""What a bound SELECT is made of: its FROM items, aggregates, windows and subqueries."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.query.aggregates import SPARK_AGGREGATES


class Recompute(Exception):
    """A query that can only be computed again and compared; its text is the reason."""


def items(select: exp.Select) -> list[exp.Expr]:
    """The FROM items of a SELECT, in order."""
    first = select.args.get("from_")
    return [*([first.this] if first else []), *(join.this for join in joins(select))]


def joins(select: exp.Select) -> list[exp.Join]:
    """The joins of a SELECT."""
    return select.args.get("joins") or []


def own(*nodes: exp.Expr | None) -> Iterator[exp.Expr]:
    """Everything in the expressions but what is inside a subquery."""
    for node in nodes:
        if node is not None:
            yield from node.walk(prune=lambda found: isinstance(found, exp.Query))


def clauses(select: exp.Select) -> list[exp.Expr]:
    """The expressions of a SELECT: its outputs, conditions and groups."""
    conditions = [join.args.get("on") for join in joins(select)]
    named = [select.args.get(name) for name in ("where", "group", "having", "order")]
    return [*select.expressions, *(node for node in (*conditions, *named) if node is not None)]


def aggregates(select: exp.Select) -> bool:
    """Whether it aggregates, with or without GROUP BY."""
    if select.args.get("group") or select.args.get("having"):
        return True
    return any(is_aggregate(node) for node in own(*select.expressions))


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate's call, and not a window's."""
    if not isinstance(node, exp.Anonymous) or node.this not in SPARK_AGGREGATES:
        return False
    around = node.parent
    if isinstance(around, exp.Filter):
        around = around.parent
    return not isinstance(around, exp.Window)


def windows(select: exp.Select) -> list[exp.Window]:
    """Its window functions."""
    return [node for node in own(*select.expressions) if isinstance(node, exp.Window)]


def subqueries(*nodes: exp.Expr | None) -> bool:
    """Whether a query stands where a value does."""
    return any(isinstance(node, exp.Query) for node in own(*nodes))


def tables(node: exp.Expr) -> list[str]:
    """The names of the children that a text reads, in order."""
    return [table.name for table in node.find_all(exp.Table, bfs=False)]


def per_row(item: exp.Expr) -> bool:
    """Whether a FROM item depends on nothing but the rows before it: LATERAL without a table."""
    return isinstance(item, exp.Lateral) and not tables(item)


def is_outer(join: exp.Join) -> bool:
    """Whether a join keeps or drops rows for want of a partner."""
    if per_row(join.this):
        return False
    return join.side.upper() in ("LEFT", "RIGHT", "FULL")


def check(select: exp.Select) -> None:
    """Raises Recompute for what no kind of block can follow."""
    for item in items(select):
        if isinstance(item, exp.Lateral) and not per_row(item):
            raise Recompute("a LATERAL subquery")
    where = select.args.get("where")
    others = [node for node in clauses(select) if node is not where]
    if subqueries(*others):
        raise Recompute("a subquery in an expression")


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that must all hold."""
    if node is None:
        return []
    if isinstance(node, exp.Paren | exp.Where):
        return conjuncts(node.this)
    if isinstance(node, exp.And):
        return conjuncts(node.this) + conjuncts(node.expression)
    return [node]


def owners(node: exp.Expr, aliases: set[str]) -> set[str]:
    """The FROM items that an expression reads, of those named."""
    found = {column.table for column in node.find_all(exp.Column)}
    bare = "" in found and len(aliases) == 1
    return aliases if bare else found & aliases


def plain(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses and its alias."""
    while isinstance(node, exp.Paren | exp.Alias):
        node = node.this
    return node


def derived(query: exp.Query, alias: str) -> exp.Subquery:
    """A query as a FROM item."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(alias)))


def column(name: str, table: str = "") -> exp.Column:
    """A column by its exact name."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table or None)


def named(node: exp.Expr, name: str) -> exp.Alias:
    """An expression under a name."""
    return exp.Alias(this=node.copy(), alias=exp.to_identifier(name, quoted=True))


def outputs(query: exp.Query) -> list[str]:
    """The names of what a query gives."""
    return [node.alias_or_name for node in query.selects]


def generates(select: exp.Select) -> bool:
    """Whether a function in the select list gives several rows."""
    calls = (node for node in own(*select.expressions) if isinstance(node, exp.Anonymous))
    return any(node.this == "EXPLODE" for node in calls)
