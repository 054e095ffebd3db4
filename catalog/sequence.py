"""Carrying plans out: one atomic commit, a write to a plain table, or a read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from catalog import answering, staging, writes
from catalog.commit import transaction
from catalog.errors import StatementError
from catalog.maintenance.applying import switch_time
from catalog.open_transaction import OpenTransaction
from catalog.plan.operations import (
    ApplyReplacement,
    CreateItem,
    Operation,
    RollbackReplacement,
)
from catalog.plan.plans import (
    Change,
    Follow,
    Plan,
    Read,
    Rows,
    SetVariable,
    ShowVariable,
    StagedChanges,
    TransactionControl,
    Write,
)
from catalog.plan.scope import Scope
from catalog.planes import plane_of
from catalog.results import Done, Result
from catalog.results import Rows as Answer
from catalog.rows import answer_of
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.show import ShowObjects
from catalog.system.registry import lookup
from catalog.system.show import show_query
from catalog.time.moments import Wanted
from catalog.time.oracle import next_time, read_floor
from catalog.variables import Variables, canonical
from ingest import engine
from ingest.contract.relation import Column, Relation
from ingest.contract.types import TEXT


class Sequencer:
    """Carries out one session's plans; remembers the newest time that the session has seen."""

    def __init__(self, region: str, role: str, *, automatic: bool = False) -> None:
        """`automatic`: nobody asks for what is done but the definitions themselves."""
        self.region = region
        self.role = role
        self.automatic = automatic
        self.reader = answering.Reader(region, role)

    def cancel(self) -> None:
        """Stop the read that is running."""
        self.reader.cancel()

    def commit(
        self, operations: Sequence[Operation], expected: int, timeout: float | None = 60.0
    ) -> None:
        """Make the data of new plain tables, then commit.

        An apply or rollback waits up to `timeout` seconds until both views' data is complete
        through one time. Raises StaleCatalog, and IngestError when it is not.
        """
        if not operations:
            return
        operations = [self._timed(operation, timeout) for operation in operations]
        made = [
            operation.entry
            for operation in operations
            if isinstance(operation, CreateItem)
            and operation.entry.kind == "table"
            and not operation.entry.table.source
        ]
        for entry in made:
            engine.create_table(
                plane_of(self.region), entry.shard, entry.relation, next_time(self.region)
            )
        try:
            transaction.commit(self.region, operations, expected=expected, role=self.role)
        except BaseException:
            for entry in made:
                engine.drop_shard(plane_of(self.region), entry.shard)
            raise
        for operation in operations:
            _passed(operation)
            if isinstance(operation, ApplyReplacement | RollbackReplacement):
                self.reader.seen = max(self.reader.seen, operation.since)

    def _timed(self, operation: Operation, timeout: float | None) -> Operation:
        """An apply or rollback with the time of the switch."""
        if not isinstance(operation, ApplyReplacement | RollbackReplacement):
            return operation
        seen = max(self.reader.seen, read_floor(self.region))
        since = switch_time(self.region, operation.target, operation.entry, timeout, seen)
        if isinstance(operation, ApplyReplacement):
            return replace(operation, since=since, automatic=self.automatic)
        return replace(operation, since=since)

    def run(
        self,
        plan: Plan,
        scope: Scope,
        variables: Variables,
        transaction: OpenTransaction | None,
    ) -> Result:
        """Carry out anything but a change of the catalog."""
        match plan:
            case Read():
                return self.reader.read(plan, scope, variables, transaction)
            case Write():
                return self._write(plan, scope, variables, transaction)
            case Rows():
                return answer_of(plan)
            case ShowVariable():
                return show(plan, variables)
            case StagedChanges():
                return self._staged(plan, scope, variables)
            case Change() | Follow() | SetVariable() | TransactionControl():
                raise TypeError(plan)
            case _:
                assert_never(plan)

    def _staged(self, plan: StagedChanges, scope: Scope, variables: Variables) -> Result:
        strict = variables["transaction_isolation"] == "strict serializable"
        at_least = max(self.reader.seen, read_floor(self.region)) if strict else 0
        wanted = Wanted(at_least, timeout=variables.timeout, strict=strict)
        found = staging.rows(self.region, plan, scope.picture, wanted)
        self.reader.seen = max(self.reader.seen, found.timestamp or 0)
        return found

    def _write(
        self,
        plan: Write,
        scope: Scope,
        variables: Variables,
        transaction: OpenTransaction | None,
    ) -> Done:
        if transaction is None:
            count = writes.write(plan, self.reader, scope, variables)
            return Done(writes.tag(plan, count))
        static = writes.static_count(plan)
        if plan.action != "insert" or static is None:
            message = f"{plan.action.upper()} cannot be run inside a transaction block"
            hint = "INSERT .. VALUES can." if plan.action == "insert" else None
            raise StatementError(message, sqlstate="25001", hint=hint)
        writes.check(plan, self.reader, scope, variables)
        transaction.write(plan)
        transaction.write_scope = (scope, variables)
        return Done(writes.tag(plan, static))

    def flush(self, transaction: OpenTransaction) -> None:
        """Write the rows that waited for COMMIT, all in one step."""
        if transaction.writes and transaction.write_scope:
            scope, variables = transaction.write_scope
            writes.write(writes.joined(transaction.writes), self.reader, scope, variables)


def _passed(operation: Operation) -> None:
    """Pass the point at which what was committed may have to do without this process."""
    match operation:
        case CreateItem() if operation.entry.kind == "materialized view":
            engine.pass_fail_point("view created")
        case ApplyReplacement():
            engine.pass_fail_point("apply committed")
        case RollbackReplacement():
            engine.pass_fail_point("undo committed")
        case _:
            pass


def show(plan: ShowVariable, variables: Variables) -> Answer:
    """SHOW of one variable, or of all."""
    if plan.name:
        name = canonical(plan.name)
        relation = Relation((Column(name, TEXT, nullable=False),))
        return answer_of(Rows("SHOW", relation, ((variables[name],),)))
    rows = tuple(tuple(row) for row in variables)
    columns = tuple(
        Column(name, TEXT, nullable=False) for name in ("name", "setting", "description")
    )
    return answer_of(Rows("SHOW", Relation(columns), rows))


def shown(statement: ShowObjects, scope: Scope) -> Read:
    """SHOW of objects as the query over the system catalog that it stands for.

    Raises UnknownItem for a schema or relation that is not there.
    """
    if statement.kind == "replacement" and statement.of is not None:
        statement = replace(statement, of=Name(scope.item(statement.of, "materialized view").path))
    elif statement.kind == "column" and statement.of is not None:
        statement = replace(statement, of=_relation_named(statement.of, scope))
    elif statement.kind != "schema" and statement.in_schema is not None:
        place = statement.in_schema
        if not scope.has_schema(scope.space_path("schema", place)):
            raise scope.unknown(Name((*place.parts, ""), place.at))
    schema = scope.search_path[0] if scope.search_path else ""
    return Read(Select(show_query(statement, scope.database, schema)))


def _relation_named(name: Name, scope: Scope) -> Name:
    """The full name of an item or of a built-in relation; raises UnknownItem."""
    entry = scope.find(name)
    if entry is not None:
        return Name(entry.path)
    found = lookup(name.parts)
    if found is None:
        raise scope.unknown(name)
    return Name((scope.database, found.schema, found.name))
