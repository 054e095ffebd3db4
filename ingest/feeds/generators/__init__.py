"""Load generators: sources that need nothing outside, the same after every restart."""

from __future__ import annotations

from ingest.contract.commands import Generator
from ingest.contract.host import FeedHost
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.contract.upstream import Reference, UpstreamColumn
from ingest.feeds.generators import kind as kinds
from ingest.feeds.generators.auction import Auction
from ingest.feeds.generators.counter import Counter
from ingest.feeds.generators.key_value import KeyValue
from ingest.feeds.generators.kind import Clock, Kind, Table
from ingest.feeds.generators.loop import Loop
from ingest.feeds.generators.tpch import Tpch

_INTERVALS = {"auction": "1s", "counter": "1s", "tpch": "0", "key value": "0"}


def make(target: Generator) -> tuple[Kind, Clock]:
    """A definition's content and its ticks. Raises Terminal for options that cannot be."""
    options = {name.upper(): value for name, value in target.options.items()}
    clock = kinds.clock(options, target.started_at, _INTERVALS[target.kind])
    if target.kind == "auction":
        return Auction(options, clock), clock
    if target.kind == "counter":
        return Counter(options), clock
    if target.kind == "tpch":
        return Tpch(options), clock
    return KeyValue(options), clock


def list_references(target: Generator) -> tuple[Reference, ...]:
    """The generator's outputs."""
    return tuple(_reference(table) for table in make(target)[0].tables)


def run(plane: Plane, host: FeedHost) -> None:
    """Run a generator's feed until the host says stop; see `ingest.engine.run_feed`."""
    feed = host.desired()
    if feed is not None and isinstance(feed.target, Generator):
        Loop(plane, host, feed, make(feed.target)).run()


def _reference(table: Table) -> Reference:
    columns = tuple(
        _column(name, position, kind) for position, (name, kind) in enumerate(table.columns, 1)
    )
    return Reference(table.namespace, table.name, table.identity, columns, table.key)


def _column(name: str, position: int, kind: Type) -> UpstreamColumn:
    return UpstreamColumn(
        name,
        position,
        kind.sql,
        kind.oid,
        kind.modifier,
        nullable=False,
        native=kind,
    )
