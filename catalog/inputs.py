"""Items as the inputs of a query on the data plane."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.plan.picture import Entry, Picture
from ingest.contract.commands import Input


def input_of(entry: Entry, picture: Picture) -> Input:
    """A table as a query reads it: base and, when a feed fills it, the tail of its log."""
    table = entry.table
    if not table.source:
        return Input(entry.id, entry.shard, entry.relation, key=entry.relation.key)
    return Input(
        item=entry.id,
        shard=entry.shard,
        relation=entry.relation,
        feed=picture.entries[table.source].source.feed,
        reference=table.identity,
        columns=table.columns,
        key=entry.relation.key,
    )


def inputs_of(items: Iterable[str], picture: Picture) -> dict[str, Input]:
    """Several tables by id."""
    return {item: input_of(picture.entries[item], picture) for item in sorted(items)}
