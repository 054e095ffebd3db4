"""What BEGIN opens: statements planned on top of one another, for one commit."""

from __future__ import annotations

from catalog.errors import StatementError
from catalog.plan.facts import UpstreamFacts
from catalog.plan.operations import Operation, apply
from catalog.plan.picture import Picture
from catalog.plan.plans import Change, Write
from catalog.plan.scope import Scope
from catalog.sql.nodes.statement import Statement
from catalog.upstream import Purifier
from catalog.variables import Variables


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
