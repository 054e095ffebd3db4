"""Shards of made-up views, without rows anywhere."""

from __future__ import annotations

from catalog.maintenance.kept import Kept, Role
from catalog.maintenance.rounds import Shard
from catalog.plan.picture import Entry, ViewFacts
from ingest.contract.commands import Input, Segment
from ingest.contract.relation import Relation
from ingest.contract.views import Block, View

NOTHING = Relation(())


def kept(name: str, *reads: str, role: Role = "live", target: str = "", options: str = "") -> Kept:
    """A view `name`, of item `i_name`, that reads views, feeds (f..) and plain tables (t..)."""
    inputs = {one: source(one) for one in reads}
    view = View(f"i_{name}", name, NOTHING, inputs, Block("recompute", ""), constant=not reads)
    facts = ViewFacts(
        target=target and f"i_{target}",
        segments=(Segment(name, 0),),
        options={options: "1"} if options else {},
    )
    path = ("headrace", "public", name)
    entry = Entry(f"i_{name}", 1, "materialized view", path, "ada", "", shard=name, facts=facts)
    return Kept(role, entry, name, view)


def source(name: str) -> Input:
    if name.startswith("f"):
        return Input(f"table of {name}", f"shard of {name}", NOTHING, feed=name)
    if name.startswith("t"):
        return Input(name, f"shard of {name}", NOTHING)
    return Input(f"i_{name}", name, NOTHING, segments=(Segment(name, 0),))


def shards(*all_kept: Kept, through: int = 10) -> dict[str, Shard]:
    return {one.shard: Shard(one, through, 5, through) for one in all_kept}
