"""What a planner returns: one of a few kinds, however many statements there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from catalog.plan.operations import Operation
from catalog.plan.picture import Entry
from catalog.results import Notice
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.subscribe import Subscribe
from ingest.contract.relation import Column, Relation
from ingest.contract.types import BIGINT


@dataclass(frozen=True)
class Change:
    """Operations for one atomic commit; none when there is only a notice to give."""

    tag: str
    operations: tuple[Operation, ...] = ()
    notices: tuple[Notice, ...] = ()
    touches: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Read:
    """A query over items, sources' progress, the system catalog or constants."""

    select: Select
    explain_timestamp: bool = False


@dataclass(frozen=True)
class Follow:
    """SUBSCRIBE: the rows of `select`, then every change of them.

    `entry` is the item that `select` reads whole, where the item's changes are recorded.
    """

    statement: Subscribe
    select: Select
    entry: Entry | None = None


@dataclass(frozen=True)
class StagedChanges:
    """What a replacement would change in its target, row by row."""

    target: Entry
    replacement: Entry
    limit: int | None = None

    @property
    def relation(self) -> Relation:
        """The answer's columns: how often a row comes (1) or goes (-1), then the row."""
        diff = Column("mz_diff", BIGINT, nullable=False)
        return Relation((diff, *self.replacement.relation.columns))


@dataclass(frozen=True)
class Write:
    """Rows of a plain table change."""

    action: Literal["insert", "update", "delete"]
    target: Entry
    query: exp.Query | exp.Values | None = None
    columns: tuple[str, ...] = ()
    assignments: tuple[tuple[str, exp.Expression], ...] = ()
    where: exp.Expression | None = None


@dataclass(frozen=True)
class Rows:
    """An answer that the picture alone gives."""

    tag: str
    relation: Relation
    rows: tuple[tuple[object, ...], ...]
    notices: tuple[Notice, ...] = ()
    touches: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class SetVariable:
    """A session variable; None takes it back to its default."""

    name: str
    value: str | None


@dataclass(frozen=True)
class ShowVariable:
    """The value of a session variable, or of all (empty name)."""

    name: str


@dataclass(frozen=True)
class TransactionControl:
    """BEGIN, COMMIT or ROLLBACK."""

    action: Literal["begin", "commit", "rollback"]


Plan = (
    Change
    | Read
    | Follow
    | StagedChanges
    | Write
    | Rows
    | SetVariable
    | ShowVariable
    | TransactionControl
)
