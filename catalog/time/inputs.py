"""Items as the inputs of a query on the data plane."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.plan.picture import Entry, Picture
from ingest.contract.commands import Input, Segment


def input_of(entry: Entry, picture: Picture) -> Input:
    """An item as a query reads it: a table is its base and, when a feed fills it, the tail of its
    log; a maintained view is its shards, one after the other."""
    if entry.kind == "materialized view":
        return view_input(entry)
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


def view_input(entry: Entry) -> Input:
    """A maintained view, or a replacement, as a query reads it."""
    view = entry.view
    segments = view.segments or (Segment(entry.shard, 0),)
    return Input(entry.id, entry.shard, entry.relation, key=view.key, segments=segments)


def inputs_of(items: Iterable[str], picture: Picture) -> dict[str, Input]:
    """Several items by id."""
    return {item: input_of(picture.entries[item], picture) for item in sorted(items)}
