"""Columns of a query that no two of its rows share."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from catalog.query.blocks.restricting import equalities
from catalog.query.blocks.shape import (
    aggregates,
    column,
    conjuncts,
    items,
    joins,
    outputs,
    own,
    plain,
)

Keys = Mapping[str, tuple[str, ...]]
Key = frozenset[exp.Expr]


def unique(query: exp.Query, keys: Keys) -> tuple[str, ...]:
    """Output columns that together tell every row from the others; empty when none are known.

    `keys` are those of the query's inputs.
    """
    if isinstance(query, exp.Subquery):
        return unique(query.this, keys)
    if isinstance(query, exp.SetOperation):
        if isinstance(query, exp.Except):
            return unique(query.this, keys) or _all(query)
        return _all(query)
    if not isinstance(query, exp.Select):
        return ()
    return _of_rows(query, keys) or (tuple(outputs(query)) if query.args.get("distinct") else ())


def _all(query: exp.SetOperation) -> tuple[str, ...]:
    return tuple(outputs(query)) if query.args.get("distinct") else ()


def _of_rows(select: exp.Select, keys: Keys) -> tuple[str, ...]:
    if aggregates(select):
        group = select.args.get("group")
        found = [plain(key) for key in group.expressions] if group else []
        return _shown(select, frozenset(found)) if found else ()
    if any(isinstance(n, exp.Anonymous) and n.this == "EXPLODE" for n in own(*select.expressions)):
        return ()
    first = _numbered(select)
    if first:
        return _shown(select, first)
    key = _joined(select, keys)
    return _shown(select, key) if key else ()


def _joined(select: exp.Select, keys: Keys) -> Key | None:
    first = select.args.get("from_")
    if first is None:
        return None
    known = _of_item(first.this, keys)
    seen = {first.this.alias}
    for join in joins(select):
        if join.kind.upper() in ("SEMI", "ANTI"):
            continue
        known = _paired(select, join, known, _of_item(join.this, keys))
        seen.add(join.this.alias)
        if known is None:
            return None
    return known


def _paired(select: exp.Select, join: exp.Join, left: Key | None, right: Key | None) -> Key | None:
    """The key of a join's rows, from those of its two sides."""
    side = join.side.upper()
    where = select.args.get("where") if not side else None
    equal = equalities(join.args.get("on"), where)
    mine = join.this.alias
    one_right = right is not None and all(_met(node, mine, equal) for node in right)
    one_left = left is not None and all(_met(node, mine, equal, inside=False) for node in left)
    if one_right and left is not None and side in ("", "LEFT"):
        return left
    if one_left and right is not None and side in ("", "RIGHT"):
        return right
    return left | right if left is not None and right is not None else None


def _met(node: exp.Expr, mine: str, equal: list[set[exp.Expr]], *, inside: bool = True) -> bool:
    """Whether a column equals one of the join's other side."""
    same = next((group for group in equal if node in group), set())
    return any((found.table != mine) == inside for found in same if isinstance(found, exp.Column))


def _of_item(item: exp.Expr, keys: Keys) -> Key | None:
    if isinstance(item, exp.Table):
        names = keys.get(item.name, ())
    elif isinstance(item, exp.Subquery):
        names = unique(item.this, keys)
    else:
        return None
    return frozenset(column(name, item.alias) for name in names) or None


def _numbered(select: exp.Select) -> Key | None:
    """The partition of rows that are the first of each."""
    found = items(select)
    if len(found) != 1 or not isinstance(found[0], exp.Subquery):
        return None
    inner = found[0].this
    if not isinstance(inner, exp.Select):
        return None
    for node in conjuncts(select.args.get("where")):
        if isinstance(node, exp.EQ) and _is_one(node.expression):
            partition = _partition(inner, plain(node.this).name)
            names = {plain(out): out.alias_or_name for out in reversed(inner.expressions)}
            if partition and all(key in names for key in partition):
                return frozenset(column(names[key], found[0].alias) for key in partition)
    return None


def _is_one(node: exp.Expr) -> bool:
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    return isinstance(node, exp.Literal) and node.name == "1"


def _partition(inner: exp.Select, name: str) -> list[exp.Expr]:
    for out in inner.expressions:
        node = plain(out)
        node = node.this if isinstance(node, exp.Cast) else node
        if out.alias_or_name != name or not isinstance(node, exp.Window):
            continue
        if isinstance(node.this, exp.Anonymous) and node.this.this == "ROW_NUMBER":
            return [plain(key) for key in node.args.get("partition_by") or []]
    return []


def _shown(select: exp.Select, key: Key) -> tuple[str, ...]:
    """The outputs that have the key's values; empty when one is missing."""
    inner = [join.args.get("on") for join in joins(select) if not join.side]
    equal = equalities(select.args.get("where"), *inner)
    aliases = {item.alias for item in items(select)}
    names: dict[exp.Expr, str] = {}
    for out in reversed(select.expressions):
        node = plain(out)
        if isinstance(node, exp.Column) and not node.table and len(aliases) == 1:
            node = column(node.name, *aliases)
        names[_bare(node)] = out.alias_or_name
    found: list[str] = []
    for node in key:
        same = [node, *(other for group in equal if node in group for other in group)]
        name = next((names[_bare(other)] for other in same if _bare(other) in names), None)
        if name is None:
            return ()
        found.append(name)
    order = outputs(select)
    return tuple(sorted(set(found), key=order.index))


def _bare(node: exp.Expr) -> exp.Expr:
    """A column however its name was quoted."""
    return column(node.name, node.table) if isinstance(node, exp.Column) else node
