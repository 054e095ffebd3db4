"""What the one door returns, whatever the entrance."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import pyarrow as pa

from ingest.contract.relation import Relation
from ingest.contract.types import Type

T = TypeVar("T")


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


class Batch(Protocol):
    """Rows of a stream, in its columns; every reader who gets the same rows gets one object."""

    @property
    def parts(self) -> tuple[pa.Table, ...]:
        """The rows, table after table."""

    @property
    def num_rows(self) -> int:
        """How many rows there are."""

    def once(self, key: Hashable, make: Callable[[Batch], T]) -> T:
        """What `make` gives for the batch, made at the first call with this key."""


class Flow(Protocol):
    """Where a stream's rows come from. One thread at a time takes; `close` from any."""

    @property
    def finished(self) -> bool:
        """Whether there is no more."""

    @property
    def reads(self) -> bool:
        """Whether the next `take` asks the data plane, and may take long."""

    def take(self) -> Batch | None:
        """The next rows; None when there are none now, or no more. Raises HeadraceError."""

    def listen(self, tell: Callable[[], None]) -> None:
        """Call `tell`, from another thread, whenever there may be more to take."""

    def wait(self, seconds: float) -> bool:
        """Wait until there may be more to take; False when the time is over."""

    def cancel(self) -> None:
        """Let `take` raise that the statement was cancelled; from any thread."""

    def close(self) -> None:
        """Nobody reads any more."""


@dataclass(frozen=True)
class Stream:
    """A statement whose rows go on coming: SUBSCRIBE."""

    tag: str
    relation: Relation
    flow: Flow
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Description:
    """What one statement would give, not run yet: its parameters' types, its columns if any."""

    parameters: tuple[Type, ...] = ()
    relation: Relation | None = None


Result = Done | Rows
