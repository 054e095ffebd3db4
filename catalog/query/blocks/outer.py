"""Outer, semi and anti joins on equal columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from catalog.query.blocks.cuts import Cut
from catalog.query.blocks.linear import signed, used
from catalog.query.blocks.partitions import given, source
from catalog.query.blocks.restricting import equalities, restrict
from catalog.query.blocks.shape import (
    Recompute,
    conjuncts,
    items,
    joins,
    named,
    owners,
    plain,
    tables,
)
from catalog.query.build import call

if TYPE_CHECKING:
    from catalog.query.blocks.cutter import Cutter

Pair = tuple[exp.Expr, exp.Expr]


def cut(cutter: Cutter, select: exp.Select) -> Cut:
    """The block of a SELECT whose last join is outer, semi or anti and whose others are inner.

    Raises Recompute when the join compares no columns.
    """
    children: dict[str, Cut | str] = {}
    inlined = cutter.inline(select, children)
    if not isinstance(inlined, exp.Select):
        raise TypeError(type(inlined))
    join = joins(inlined)[-1]
    pairs = _pairs(inlined, join)
    right = set(tables(join.this))
    side = join.side.upper()
    follows = {"LEFT": set(children) - right, "RIGHT": right}.get(side, set())
    ordered = sorted(children, key=lambda child: child not in follows)
    followed = _restricted(inlined, pairs, side)
    touched = _touched(inlined, pairs, ordered)
    return Cut(
        "partitioned",
        select,
        {child: children[child] for child in ordered},
        parts={child: signed(followed, child) for child in ordered if child in follows},
        touched={child: touched[child] for child in ordered if child in follows},
        keys={child: touched[child] for child in ordered if child not in follows},
        key=tuple(f"k{i}" for i in range(1, len(pairs) + 1)),
        restricted=_restricted(inlined, pairs),
        output_key=given(select, [_shown(pair, side) for pair in pairs]),
        used=used(inlined, children),
    )


def _pairs(select: exp.Select, join: exp.Join) -> list[Pair]:
    mine = join.this.alias
    aliases = {item.alias for item in items(select)}
    found: list[Pair] = []
    for node in conjuncts(join.args.get("on")):
        if not isinstance(node, exp.EQ | exp.NullSafeEQ):
            continue
        sides = [plain(node.this), plain(node.expression)]
        owned = [owners(side, aliases) for side in sides]
        if owned[0] == {mine}:
            sides, owned = sides[::-1], owned[::-1]
        if owned[1] == {mine} and owned[0] and mine not in owned[0]:
            found.append((sides[0], sides[1]))
    if not found:
        raise Recompute("a join that keeps unmatched rows and compares no columns")
    return found


def _touched(select: exp.Select, pairs: list[Pair], names: list[str]) -> dict[str, exp.Query]:
    """The keys that changes of a child touch: by its own side of the comparison."""
    right = exp.Select(expressions=_columns([pair[1] for pair in pairs]))
    right = right.from_(joins(select)[-1].this.copy())
    left = source(select)
    left.set("joins", joins(left)[:-1])
    left.set("where", None)
    left.set("expressions", _columns([pair[0] for pair in pairs]))
    mine = set(tables(right))
    return {child: signed(right if child in mine else left, child) for child in names}


def _columns(keys: list[exp.Expr]) -> list[exp.Expr]:
    return [named(key, f"k{i}") for i, key in enumerate(keys, 1)]


def _restricted(select: exp.Select, pairs: list[Pair], followed: str = "") -> exp.Select:
    """The join for the affected keys alone; the side that is `followed` is left as it is."""
    copy = select.copy()
    inner = joins(copy)[:-1]
    if followed != "RIGHT":
        right = exp.Select().from_(joins(copy)[-1].this.copy())
        restrict(right, [pair[1] for pair in pairs], [], 1)
        joins(copy)[-1].set("this", items(right)[0])
    if followed != "LEFT":
        equal = equalities(*(join.args.get("on") for join in inner))
        restrict(copy, [pair[0] for pair in pairs], equal, len(inner) + 1)
    return copy


def _shown(pair: Pair, side: str) -> exp.Expr:
    """What the key of a joined row is."""
    if side == "FULL":
        return call("COALESCE", *pair)
    return pair[1] if side == "RIGHT" else pair[0]
