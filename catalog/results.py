"""What the one door returns, whatever the entrance."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from ingest.contract.relation import Relation
from ingest.contract.types import Type


@dataclass(frozen=True)
class Notice:
    """Something worth telling beside a success."""

    message: str
    code: str = "00000"
    severity: str = "notice"
    detail: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Done:
    """A statement without rows: its command tag, such as `CREATE SOURCE` or `INSERT 0 3`."""

    tag: str
    notices: tuple[Notice, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Rows:
    """A statement with rows; `timestamp` is the mz_timestamp (ms) they are true at, if any."""

    tag: str
    relation: Relation
    data: pa.Table
    notices: tuple[Notice, ...] = ()
    timestamp: int | None = None
    fields: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Description:
    """What one statement would give, not run yet: its parameters' types, its columns if any."""

    parameters: tuple[Type, ...] = ()
    relation: Relation | None = None


Result = Done | Rows
