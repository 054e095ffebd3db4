"""What BEGIN opens: statements planned on top of one another, for one commit."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.errors import StatementError
from catalog.plan.facts import UpstreamFacts
from catalog.plan.operations import Operation, apply
from catalog.plan.picture import Picture
from catalog.plan.plans import Change, Write
from catalog.plan.scope import Scope
from catalog.sql.nodes.statement import Statement
from catalog.upstream.purification import Purifier
from catalog.variables import Variables


@dataclass(frozen=True)
class Savepoint:
    """What a transaction held when a savepoint was set."""

    name: str
    picture: Picture
    operations: tuple[Operation, ...]
    statements: tuple[tuple[Statement, UpstreamFacts], ...]
    writes: tuple[Write, ...]
    variables: Variables


class OpenTransaction:
    """Changes wait here for COMMIT; `picture` is the catalog as they leave it.

    A transaction changes definitions or rows, not both. All its reads are at one `timestamp`.
    `variables` are the session's from before, for ROLLBACK.
    """

    def __init__(self, base: Picture, purifier: Purifier, variables: Variables) -> None:
        self.base = base
        self.picture = base
        self.purifier = purifier
        self.variables = variables
        self.failed = False
        self.timestamp: int | None = None
        self.operations: list[Operation] = []
        self.statements: list[tuple[Statement, UpstreamFacts]] = []
        self.writes: list[Write] = []
        self.write_scope: tuple[Scope, Variables] | None = None
        self._savepoints: list[Savepoint] = []

    def save(self, name: str, variables: Variables) -> None:
        """Set a savepoint; one of the same name is hidden until this one is gone."""
        kept = (tuple(self.operations), tuple(self.statements), tuple(self.writes))
        self._savepoints.append(Savepoint(name, self.picture, *kept, variables.copy()))

    def release(self, name: str) -> None:
        """Forget a savepoint and those after it. Raises StatementError (3B001)."""
        del self._savepoints[self._index(name) :]

    def go_back(self, name: str) -> Variables:
        """Undo what came after a savepoint, a failure too; the session's variables from then.

        Raises StatementError (3B001).
        """
        index = self._index(name)
        found = self._savepoints[index]
        del self._savepoints[index + 1 :]
        self.picture = found.picture
        self.operations = list(found.operations)
        self.statements = list(found.statements)
        self.writes = list(found.writes)
        self.failed = False
        return found.variables.copy()

    def _index(self, name: str) -> int:
        for index in reversed(range(len(self._savepoints))):
            if self._savepoints[index].name == name:
                return index
        message = f'savepoint "{name}" does not exist'
        raise StatementError(message, sqlstate="3B001")

    def add(self, statement: Statement, facts: UpstreamFacts, planned: Change) -> None:
        """Take a change in; raises StatementError after writes."""
        if self.writes:
            message = f"{planned.tag} cannot be run in a transaction that writes rows"
            raise StatementError(message, sqlstate="25001")
        self.statements.append((statement, facts))
        self.operations.extend(planned.operations)
        self.picture = apply(self.picture, planned.operations)
        self.purifier.learn(planned.operations)

    def write(self, planned: Write) -> None:
        """Take an INSERT in; raises StatementError after changes, or for a second table."""
        if self.operations:
            message = "INSERT cannot be run in a transaction that changes definitions"
            raise StatementError(message, sqlstate="25001")
        if self.writes and self.writes[0].target.id != planned.target.id:
            message = "write transactions only support writes to a single table"
            raise StatementError(message, sqlstate="0A000")
        self.writes.append(planned)
