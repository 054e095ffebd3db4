"""GROUP BY, DISTINCT and window functions: rows of one key depend on rows of that key alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from catalog.query.blocks.cuts import Beside, Cut
from catalog.query.blocks.exact import is_exact
from catalog.query.blocks.folds import Folding, folding
from catalog.query.blocks.linear import signed, used
from catalog.query.blocks.restricting import equalities, restrict
from catalog.query.blocks.shape import Recompute, items, joins, named, plain, windows

if TYPE_CHECKING:
    from catalog.query.blocks.cutter import Cutter


def source(select: exp.Select) -> exp.Select:
    """What a SELECT takes its rows from, without what it makes of them."""
    found = exp.Select(expressions=[exp.Literal.number(1)])
    copy = select.copy()
    for name in ("from_", "joins", "where"):
        found.set(name, copy.args.get(name))
    return found


def grouped(select: exp.Select) -> exp.Select:
    """SELECT DISTINCT as the groups of all that it selects; as it is where it selects what is the
    same for every row, which Spark takes for a place in the select list."""
    keys = [plain(node) for node in select.expressions]
    if not all(key.find(exp.Column) for key in keys):
        return select
    copy = select.copy()
    copy.set("distinct", None)
    copy.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys(keys)]))
    return copy


def cut(cutter: Cutter, select: exp.Select) -> Cut:
    """The block; raises Recompute when nothing divides its rows."""
    keys = _keys(select)
    folded = folding(select, keys, cutter.present)
    if not keys and (folded is None or folded.plain is None):
        raise Recompute("an aggregate over all rows")
    children: dict[str, Cut | str] = {}
    output_key = given(select, keys)
    folded = folded if folded is not None and len(output_key) == len(keys) else None
    hidden = folded.hidden if folded is not None else {}
    wide = select.copy()
    wide.set("expressions", [*wide.expressions, *(named(n, name) for name, n in hidden.items())])
    inlined = cutter.inline(wide, children)
    if not isinstance(inlined, exp.Select):
        raise TypeError(type(inlined))
    key = tuple(f"k{i}" for i in range(1, len(keys) + 1))
    values = folded.values if folded is not None else []
    core = source(inlined)
    named_keys = [named(node, name) for node, name in zip(keys, key, strict=True)]
    named_values = [named(node, f"v{i}") for i, node in enumerate(values, 1)]
    core.set("expressions", [*named_keys, *named_values])
    columns = used(inlined, children)
    equal = equalities(inlined.args.get("where"), *(j.args.get("on") for j in joins(inlined)))
    if keys:
        restrict(inlined, keys, equal, len(items(inlined)))
    own = folded.plain if folded is not None else None
    return Cut(
        "partitioned",
        select,
        children,
        keys={child: signed(core, child) for child in children},
        key=key,
        restricted=_without(inlined, len(hidden)),
        output_key=output_key,
        exact=is_exact(select),
        used=columns,
        folds=own.folds if own is not None else (),
        finish=own.finish if own is not None else None,
        beside=_beside(folded, wide, inlined),
    )


def _without(select: exp.Select, last: int) -> exp.Select:
    """The query without the `last` of its columns."""
    copy = select.copy()
    copy.set("expressions", copy.expressions[: len(copy.expressions) - last])
    return copy


def _beside(folded: Folding | None, whole: exp.Select, restricted: exp.Select) -> Beside | None:
    if folded is None or folded.beside is None:
        return None
    groups = folded.beside
    return Beside(folded.hidden, whole, restricted, groups.folds, groups.finish)


def _keys(select: exp.Select) -> list[exp.Expr]:
    if select.args.get("distinct"):
        return [plain(node) for node in select.expressions]
    groups = group_keys(select)
    found = windows(select)
    if not found:
        return groups
    common = [plain(key) for key in found[0].args.get("partition_by") or []]
    for window in found[1:]:
        others = [plain(key) for key in window.args.get("partition_by") or []]
        common = [key for key in common if key in others]
    if select.args.get("group"):
        common = [key for key in common if key in groups]
    if not common:
        raise Recompute("window functions without a PARTITION BY that they share")
    return common


def group_keys(select: exp.Select) -> list[exp.Expr]:
    """The expressions of GROUP BY; raises Recompute for several groupings at once."""
    group = select.args.get("group")
    if group is None:
        return []
    keys: list[exp.Expr] = []
    for node in group.expressions:
        if isinstance(node, exp.GroupingSets | exp.Rollup | exp.Cube):
            raise Recompute("GROUPING SETS, ROLLUP or CUBE")
        keys += node.expressions if isinstance(node, exp.Tuple) else [node]
    return list(dict.fromkeys(plain(key) for key in keys))


def given(select: exp.Select, keys: list[exp.Expr]) -> tuple[str, ...]:
    """The outputs with the keys' values; none when one is missing."""
    names = {plain(node): node.alias_or_name for node in reversed(select.expressions)}
    return tuple(names[key] for key in keys) if set(keys) <= set(names) else ()
