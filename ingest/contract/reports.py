"""What the data plane tells the catalog; plain values, no references into either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from ingest.contract.relation import Relation

Status = Literal["created", "starting", "running", "paused", "stalled", "failed", "dropped"]
"""mz_source_statuses.status. stalled: waits for something that may come back; failed: definite."""

Phase = Literal["validate", "slot", "snapshot", "catch up", "running"]


@dataclass(frozen=True)
class FeedReport:
    """A feed's state. `complete_through`: every change with a time <= it is in the log.

    `upto` is the upstream position behind it, `upstream` the newest position seen there,
    `retained_bytes` the WAL that upstream keeps for the slot (-1 unknown).
    """

    feed: str
    status: Status
    complete_through: int = 0
    upto: int = 0
    upstream: int = 0
    retained_bytes: int = -1
    messages: int = 0
    bytes: int = 0
    error: str = ""
    detail: str = ""
    hint: str = ""


@dataclass(frozen=True)
class ExportReport:
    """A table's state: phase by phase, with the snapshot's progress in rows and bytes.

    `readable_from` is the first time (ms) at which the table can be read, 0 before its snapshot.
    """

    table: str
    status: Status
    phase: Phase = "validate"
    readable_from: int = 0
    rows_known: int = -1
    rows_staged: int = 0
    bytes_staged: int = 0
    updates_committed: int = 0
    quarantined: int = 0
    error: str = ""
    detail: str = ""
    hint: str = ""


@dataclass(frozen=True)
class ResultSet:
    """Rows and what they look like; `data` has one column per column of `relation`, same order."""

    relation: Relation
    data: pa.Table
