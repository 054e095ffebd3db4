"""What the catalog tells the data plane; derived from committed rows, never from a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ingest.contract.relation import Relation
from ingest.contract.types import Type
from ingest.contract.upstream import PostgresTarget

GeneratorKind = Literal["auction", "counter", "tpch", "key value"]


@dataclass(frozen=True)
class Generator:
    """A load generator's definition; `options` as the statement gave them, defaults filled in.

    `started_at` (ms) fixes the function of time, so that a restart continues exactly.
    """

    kind: GeneratorKind
    started_at: int
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Webhooks:
    """The upstream of every webhook: the inbox of their feed."""


@dataclass(frozen=True)
class ExportColumn:
    """One column of a table: where it comes from upstream and what it becomes here."""

    name: str
    type: Type
    nullable: bool
    upstream_name: str
    upstream_position: int
    upstream_oid: int
    upstream_modifier: int
    as_text: bool = False


@dataclass(frozen=True)
class Export:
    """A table that a feed fills (seed 000's SourceExport).

    `shard` names its data under the warehouse, apart from the item's id. `snapshot_group` is
    shared by tables created in one transaction: they share one upstream snapshot. `hydrated` is
    what the catalog knows; Delta is the truth.
    """

    table: str
    shard: str
    namespace: str
    name: str
    reference: int
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]
    snapshot_group: str
    hydrated: bool = False


@dataclass(frozen=True)
class Feed:
    """One physical consumer of one upstream, shared by every table and source on it."""

    id: str
    epoch: int
    target: PostgresTarget | Generator | Webhooks
    publication: str = ""
    slot: str = ""
    exports: tuple[Export, ...] = ()


@dataclass(frozen=True)
class Segment:
    """The part of a maintained view's life from `since` (ms) that `shard` holds."""

    shard: str
    since: int


@dataclass(frozen=True)
class Input:
    """A collection that a query reads.

    `feed` is the id of the feed whose log carries its tail, empty for a plain table, whose Delta
    table has every row itself. A maintained view has `segments` instead, oldest first: the last
    one's shard is `shard`, earlier ones were replaced; a column that one of them lacks is null.
    """

    item: str
    shard: str
    relation: Relation
    feed: str = ""
    reference: int = 0
    columns: tuple[ExportColumn, ...] = ()
    key: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Query:
    """A query ready for Spark: its text, and what each table name in it stands for.

    Names in `sql` are the keys of `inputs` (`u12`, ...), never a user's spelling. Every input is
    read at `time`, so the answer is one moment's, over all of them.
    """

    sql: str
    inputs: dict[str, Input]
    time: int
    limit: int | None = None
    timeout: float | None = None
    tag: str = ""
