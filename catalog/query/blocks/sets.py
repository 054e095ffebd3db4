"""EXCEPT and INTERSECT: every row is a key of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from catalog.query.blocks.cuts import Cut
from catalog.query.blocks.linear import signed, used
from catalog.query.blocks.nesting import around
from catalog.query.blocks.restricting import restrict
from catalog.query.blocks.shape import column, items, named, outputs, tables

if TYPE_CHECKING:
    from catalog.query.blocks.cutter import Cutter


def cut(cutter: Cutter, query: exp.SetOperation) -> Cut:
    """The block of EXCEPT or INTERSECT, with ALL or without."""
    children: dict[str, Cut | str] = {}
    touched: dict[str, exp.Query] = {}
    columns: dict[str, tuple[str, ...] | None] = {}
    restricted = query.copy()
    names = outputs(query)
    for side in ("this", "expression"):
        over = around(query.args[side], cutter.fresh("x"))
        inlined = cutter.inline(over, children)
        if not isinstance(inlined, exp.Select):
            raise TypeError(type(inlined))
        alias = items(inlined)[0].alias
        keys: list[exp.Expr] = [column(name, alias) for name in outputs(over)]
        core = inlined.copy()
        core.set("expressions", [named(key, f"k{i}") for i, key in enumerate(keys, 1)])
        touched |= {child: signed(core, child) for child in tables(inlined)}
        restrict(inlined, keys, [], 1)
        restricted.set(side, inlined)
        columns |= used(core, tables(core))
    key = tuple(f"k{i}" for i in range(1, len(names) + 1))
    return Cut(
        "partitioned",
        query,
        children,
        keys=touched,
        key=key,
        restricted=restricted,
        output_key=tuple(names),
        used=columns,
    )
