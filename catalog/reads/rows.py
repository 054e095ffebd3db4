"""The frozen rows that pages and REST resources show."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ItemRow:
    """Any item. `kind`: secret, connection, source, table, view or materialized view.

    `id` is stable: u1, u2, ...
    """

    id: str
    kind: str
    database: str
    schema: str
    name: str
    owner: str
    created_at: dt.datetime
    create_sql: str
    redacted_sql: str


@dataclass(frozen=True)
class StatusRow:
    """A source's or a table's newest status; `status` as in mz_source_statuses."""

    id: str
    status: str
    error: str
    detail: str
    hint: str
    changed_at: dt.datetime


@dataclass(frozen=True)
class SourceRow:
    """A source with what its page needs beside the item."""

    item: ItemRow
    type: str
    connection: ItemRow | None
    publication: str
    status: StatusRow
    tables: int
    references: int
    references_updated_at: dt.datetime | None
    feed: FeedRow | None


@dataclass(frozen=True)
class FeedRow:
    """The one consumer behind one or more sources."""

    id: str
    slot: str
    status: str
    complete_through: int
    upto: int
    upstream: int
    retained_bytes: int
    messages: int
    bytes: int
    sources: tuple[str, ...]
    reported_at: dt.datetime | None


@dataclass(frozen=True)
class TableRow:
    """A table. `source` is None for a plain one; `namespace`, `reference` name upstream's."""

    item: ItemRow
    source: ItemRow | None
    namespace: str
    reference: str
    columns: tuple[ColumnRow, ...]
    status: StatusRow
    phase: str
    rows_known: int
    rows_staged: int
    bytes_staged: int
    updates_committed: int
    quarantined: int
    readable_from: int
    drift: tuple[str, ...]
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnRow:
    """One column here: type in PostgreSQL's spelling."""

    name: str
    type: str
    nullable: bool
    position: int


@dataclass(frozen=True)
class ReferenceColumnRow:
    """One column upstream. `native` is empty where only text or exclusion is possible."""

    name: str
    position: int
    type: str
    nullable: bool
    native: str
    text_by_default: bool
    in_key: bool


@dataclass(frozen=True)
class ReferenceRow:
    """One upstream table; `new` since the last refresh but one; `rows`, `bytes` -1 unknown."""

    namespace: str
    name: str
    identity: int
    columns: tuple[ReferenceColumnRow, ...]
    key: tuple[str, ...]
    replica_identity: str
    rows: int
    bytes: int
    new: bool
    problems: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class AuditRow:
    """One state transition."""

    id: int
    event: str
    object_type: str
    details: dict[str, Any]
    user: str
    occurred_at: dt.datetime


@dataclass(frozen=True)
class OverviewRow:
    """How many there are of what, and what needs attention."""

    connections: int
    sources: int
    tables: int
    views: int
    secrets: int
    attention: tuple[StatusRow, ...]
