"""What a planner returns: one of a few kinds, however many statements there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from catalog.plan.operations import Operation
from catalog.plan.picture import Entry
from catalog.results import Notice
from catalog.sql.nodes.query import Select
from ingest.contract.relation import Relation


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


Plan = Change | Read | Write | Rows | SetVariable | ShowVariable | TransactionControl
