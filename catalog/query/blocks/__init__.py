"""Bound queries cut into the blocks that the data plane maintains; see docs/adr/0006."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.query.blocks import top
from catalog.query.blocks.cuts import Cut, recompute
from catalog.query.blocks.cutter import Cutter
from catalog.query.blocks.exact import settle
from catalog.query.blocks.moments import unmaintainable as unmaintainable
from catalog.query.blocks.shape import Recompute
from catalog.query.blocks.unique import unique
from catalog.query.names import Resolved
from ingest.contract.views import Block


@dataclass(frozen=True)
class Kept:
    """A query in blocks. `inputs` are the item ids of the inputs by name; `key` are columns that
    no two rows share, empty when none are known."""

    block: Block
    inputs: dict[str, str]
    key: tuple[str, ...]


def blocks(query: exp.Query, items: Mapping[str, Resolved]) -> Kept:
    """The tree of blocks of a bound query in Spark's words, which reads the `items` by id.

    A query that reads an item twice has two inputs. What cannot be followed through is one
    recompute block that says why.
    """
    tree = query.copy()
    inputs = _number(tree)
    key = unique(tree, {name: items[item].key for name, item in inputs.items()})
    settle(tree)
    try:
        cut = _cut(tree, Cutter({name: _present(items[item]) for name, item in inputs.items()}))
        _check(cut)
    except Recompute as reason:
        return Kept(recompute(tree, str(reason)), inputs, key)
    partial = cut.beside.partial() if cut.beside is not None else None
    return Kept(replace(cut.block(), partial=partial), inputs, key)


def _number(tree: exp.Query) -> dict[str, str]:
    """Give each place where an item is read a name of its own."""
    inputs: dict[str, str] = {}
    for table in tree.find_all(exp.Table, bfs=False):
        item, n = table.name, 1
        while (name := item if n == 1 else "_".join((item, str(n)))) in inputs:
            n += 1
        inputs[name] = item
        table.set("this", exp.to_identifier(name))
    return inputs


def _present(item: Resolved) -> frozenset[str]:
    return frozenset(column.name for column in item.relation.columns if not column.nullable)


def _cut(tree: exp.Query, cutter: Cutter) -> Cut:
    if isinstance(tree, exp.Select) and (tree.args.get("limit") or tree.args.get("offset")):
        return top.cut(cutter, tree)
    return cutter.cut(tree)


def _check(cut: Cut) -> None:
    """Raises Recompute where rows would be taken back that are not the ones there."""
    below = [child for child in cut.children.values() if isinstance(child, Cut)]
    if any(child.lone for child in below):
        raise Recompute("an aggregate over all rows below another step")
    if not all(child.sound for child in below):
        raise Recompute("sums of floating-point numbers or unordered lists below another step")
    if not cut.exact and not (cut.output_key and not cut.parts):
        raise Recompute("sums of floating-point numbers or unordered lists without their key")
