"""Bound queries cut into the blocks that the data plane maintains; see docs/adr/0006."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.blocks import top
from catalog.query.blocks.cuts import Cut, recompute
from catalog.query.blocks.cutter import Cutter
from catalog.query.blocks.exact import settle
from catalog.query.blocks.moments import unmaintainable as unmaintainable
from catalog.query.blocks.shape import Recompute
from ingest.contract.views import Block


def blocks(query: exp.Query) -> tuple[Block, dict[str, str]]:
    """The tree of blocks of a bound query in Spark's words, and its inputs: name -> item id.

    A query that reads an item twice has two inputs. What cannot be followed through is one
    recompute block that says why.
    """
    tree = query.copy()
    inputs = _number(tree)
    settle(tree)
    try:
        cut = _cut(tree)
        _check(cut)
    except Recompute as reason:
        return recompute(tree, str(reason)), inputs
    return cut.block(), inputs


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


def _cut(tree: exp.Query) -> Cut:
    if isinstance(tree, exp.Select) and (tree.args.get("limit") or tree.args.get("offset")):
        return top.cut(Cutter(), tree)
    return Cutter().cut(tree)


def _check(cut: Cut) -> None:
    """Raises Recompute where rows would be taken back that are not the ones there."""
    below = [child for child in cut.children.values() if isinstance(child, Cut)]
    if not all(child.sound for child in below):
        raise Recompute("sums of floating-point numbers or unordered lists below another step")
    if not cut.exact and not (cut.output_key and not cut.parts):
        raise Recompute("sums of floating-point numbers or unordered lists without their key")
