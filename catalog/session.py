"""The one door: SQL text in, results out.

    parse -> fill_in (asks upstream) -> plan (pure) -> check privileges -> sequence

A session lives as long as a client's connection or one request, in one thread at a time.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from catalog import privileges, snapshot, subscribing
from catalog.bootstrap import ensure_role
from catalog.cursors import Cursors, wait_of
from catalog.errors import NotSupported, StaleCatalog, StatementError
from catalog.here import region_here
from catalog.open_transaction import OpenTransaction
from catalog.parameters import Parameter, Typed, bind, wanted
from catalog.plan import plan
from catalog.plan.facts import UpstreamFacts
from catalog.plan.picture import Picture
from catalog.plan.plans import (
    Change,
    Follow,
    Plan,
    Read,
    Rows,
    SetVariable,
    ShowVariable,
    StagedChanges,
)
from catalog.plan.scope import Scope
from catalog.plan.show import needs_system
from catalog.results import Description, Done, Flow, Notice, Result, Stream
from catalog.sequence import Sequencer, show, shown
from catalog.sql.nodes import session as nodes
from catalog.sql.nodes.cursors import Close, Declare, Fetch
from catalog.sql.nodes.show import ShowObjects
from catalog.sql.nodes.statement import ANSWERED, DEFINITIONS, Statement
from catalog.sql.nodes.subscribe import Subscribe
from catalog.sql.parse import Parsed, parse
from catalog.sql.render import render
from catalog.upstream.purification import Purifier
from catalog.variables import VARIABLES, Variables
from ingest.contract.relation import Relation
from ingest.contract.types import TEXT, Type
from ingest.errors import HeadraceError

ABORTED = "current transaction is aborted, commands ignored until end of transaction block"
_OPEN = Notice("there is already a transaction in progress", "25001", "warning")
_NONE = Notice("there is no transaction in progress", "25P01", "warning")


def _together(parsed: Sequence[Parsed]) -> bool:
    return len(parsed) > 1 and all(isinstance(one.statement, DEFINITIONS) for one in parsed)


def _no_stream(statement: Statement) -> NotSupported:
    message = f"unsupported via this API: {render(statement)}"
    hint = "The websocket /api/experimental/sql, psql and the SQL shell can do it."
    return NotSupported(message, hint=hint)


def role_for(region: str, name: str, *, superuser: bool) -> str:
    """The name of a user's role, which is made when it is missing."""
    known = snapshot.current(region).roles.get(name)
    if known is None or known.superuser != superuser:
        ensure_role(region, name, superuser=superuser)
    return name


class Session:
    """One client's conversation with a region's catalog, as one role."""

    def __init__(self, role: str, region: str = "", *, automatic: bool = False) -> None:
        """`automatic`: no person is behind it; the audit log says so."""
        self.role = role
        self.region = region or region_here()
        self.variables = Variables()
        self._transaction: OpenTransaction | None = None
        self._flow: Flow | None = None
        self._cursors = Cursors()
        self._closed = False
        self._sequencer = Sequencer(self.region, role, automatic=automatic)

    @property
    def transaction_status(self) -> str:
        """`I` outside of a transaction, `T` in one, `E` in one that has failed."""
        if self._transaction is None:
            return "I"
        return "E" if self._transaction.failed else "T"

    def execute(self, sql: str, parameters: Sequence[Parameter] = ()) -> Iterator[Result]:
        """Run the statements of `sql` in turn; `parameters` stand for `$1`, `$2`, .. in each.

        Nothing runs when the text does not parse. Several statements that only define things
        stand or fall together. Raises HeadraceError, with positions in `sql`, and leaves an open
        transaction failed. Refuses SUBSCRIBE.
        """
        for result in self._each(sql, parameters, streams=False):
            if isinstance(result, Stream):
                raise TypeError(result)
            yield result

    def stream(self, sql: str, parameters: Sequence[Parameter] = ()) -> Iterator[Result | Stream]:
        """`execute` for an entrance that can tell of rows that go on coming.

        A stream belongs to whoever gets it, who closes it before the next statement.
        """
        return self._each(sql, parameters, streams=True)

    def _each(
        self, sql: str, parameters: Sequence[Parameter], *, streams: bool
    ) -> Iterator[Result | Stream]:
        with self._failing(0):
            parsed = parse(sql)
        if self._transaction is None and _together(parsed):
            yield from self._run_together(parsed, parameters)
            return
        for one in parsed:
            with self._failing(one.start):
                if not streams and isinstance(one.statement, Subscribe | Declare | Fetch | Close):
                    raise _no_stream(one.statement)
                result = self._run(bind(one.statement, parameters))
            yield result

    def _run_together(
        self, parsed: Sequence[Parsed], parameters: Sequence[Parameter]
    ) -> Iterator[Result | Stream]:
        """Definitions in a transaction of their own, committed before the first is told of."""
        self._control("begin")
        try:
            results: list[Result | Stream] = []
            for one in parsed:
                with self._failing(one.start):
                    results.append(self._run(bind(one.statement, parameters)))
            self._control("commit")
        finally:
            self._transaction = None
        yield from results

    def describe(self, sql: str, types: Sequence[Type | None] = ()) -> Description:
        """What the statement of `sql` gives, without running it; `types` are its parameters'.

        An empty text gives nothing. Raises HeadraceError as `execute` does.
        """
        with self._failing(0):
            parsed = parse(sql)
        if not parsed:
            return Description()
        with self._failing(parsed[0].start):
            statement = parsed[0].statement
            asked = wanted(statement, types)
            nulls = [None if type_ is None else Typed(None, type_) for type_ in asked]
            relation = self._relation(bind(statement, nulls))
        return Description(tuple(type_ or TEXT for type_ in asked), relation)

    def fail(self) -> None:
        """Let an open transaction fail."""
        if self._transaction is not None:
            self._transaction.failed = True

    def cursor(self, name: str) -> Relation | None:
        """The columns of the open cursor of that name, if there is one."""
        return self._cursors.relation(name)

    def close(self) -> None:
        """End what goes on: a stream, cursors."""
        self._closed = True
        if self._flow is not None:
            self._flow.close()
        self._cursors.close()

    def cancel(self) -> None:
        """Stop what the session is reading; may be called from another thread."""
        if self._flow is not None and not self._flow.finished:
            self._flow.cancel()
        self._sequencer.cancel()

    @contextmanager
    def _failing(self, start: int) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.fail()
            if isinstance(error, HeadraceError) and error.position is not None:
                error.position += start
            raise

    def _relation(self, statement: Statement) -> Relation | None:
        self._refuse_when_failed(statement)
        if not isinstance(statement, ANSWERED):
            return None
        if isinstance(statement, Fetch):
            return self._cursors.named(statement.name).relation
        scope = self._scope(self._picture())
        facts = Purifier(self.region).fill_in(statement, scope)
        planned = self._plan(statement, facts, scope.picture)
        match planned:
            case Read():
                return self._sequencer.reader.describe(planned, scope, self.variables)
            case ShowVariable():
                return show(planned, self.variables).relation
            case Rows() | StagedChanges():
                return planned.relation
            case Follow():
                return subscribing.describe(planned, self._sequencer.reader, scope)
            case _:
                return None

    def _refuse_when_failed(self, statement: Statement) -> None:
        if self.transaction_status == "E" and not isinstance(statement, nodes.TransactionControl):
            raise StatementError(ABORTED, sqlstate="25P02")

    def _run(self, statement: Statement) -> Result | Stream:
        if isinstance(statement, nodes.TransactionControl):
            return self._control(statement.action)
        if isinstance(statement, nodes.Savepoint):
            return self._savepoint(statement)
        if isinstance(statement, nodes.Discard):
            return self._discard(statement)
        if isinstance(statement, Declare | Fetch | Close):
            return self._cursor(statement)
        transaction = self._transaction
        self._refuse_when_failed(statement)
        purifier = transaction.purifier if transaction else Purifier(self.region)
        facts = purifier.fill_in(statement, self._scope(self._picture()))
        picture = self._picture()
        planned = self._plan(statement, facts, picture)
        match planned:
            case Change():
                return self._change(planned, picture, statement, facts)
            case SetVariable():
                return self._set(planned)
            case Follow():
                return self._follow(planned, self._scope(picture))
            case _:
                scope = self._scope(picture)
                return self._sequencer.run(planned, scope, self.variables, transaction)

    def _follow(self, planned: Follow, scope: Scope) -> Stream:
        reader = self._sequencer.reader
        stream = subscribing.subscribe(planned, reader, scope, self.variables)
        self._flow = stream.flow
        if self._closed:
            stream.flow.close()
        return stream

    def _cursor(self, statement: Declare | Fetch | Close) -> Result:
        """Cursors live in a transaction; each reads at its one time."""
        self._refuse_when_failed(statement)
        match statement:
            case Fetch():
                wait = wait_of(statement.timeout)
                return self._cursors.named(statement.name).fetch(statement.count, wait)
            case Close():
                self._cursors.close(statement.name)
                return Done("CLOSE CURSOR")
            case _:
                if self._transaction is None:
                    message = "DECLARE CURSOR can only be used in transaction blocks"
                    raise StatementError(message, sqlstate="25P01")
                self._cursors.free(statement.name)
                result = self._run(statement.statement)
                if isinstance(result, Done):
                    raise TypeError(result)
                self._cursors.declare(statement.name, result)
                return Done("DECLARE CURSOR", result.notices)

    def _picture(self) -> Picture:
        if self._transaction is not None:
            return self._transaction.picture
        return snapshot.current(self.region)

    def _scope(self, picture: Picture) -> Scope:
        return Scope(
            picture,
            self.role,
            self.variables["database"],
            self.variables.search_path,
            secrets.token_hex(4),
        )

    def _plan(self, statement: Statement, facts: UpstreamFacts, picture: Picture) -> Plan:
        scope = self._scope(picture)
        planned: Plan
        if isinstance(statement, ShowObjects) and needs_system(statement, scope):
            planned = shown(statement, scope)
        else:
            planned = plan(statement, scope, facts, self._sequencer.reader.system())
        privileges.check(planned, picture, self.role)
        return planned

    def _change(
        self, planned: Change, picture: Picture, statement: Statement, facts: UpstreamFacts
    ) -> Done:
        if self._transaction is not None:
            self._transaction.add(statement, facts, planned)
            return Done(planned.tag, planned.notices)
        try:
            self._sequencer.commit(planned.operations, picture.revision, self.variables.timeout)
        except StaleCatalog:
            picture = snapshot.current(self.region)
            again = self._plan(statement, facts, picture)
            if not isinstance(again, Change):
                raise
            planned = again
            self._sequencer.commit(planned.operations, picture.revision, self.variables.timeout)
        return Done(planned.tag, planned.notices)

    def _set(self, planned: SetVariable) -> Done:
        name, value = self.variables.set(planned.name, planned.value)
        notices: tuple[Notice, ...] = ()
        if name == "database" and (value,) not in self._picture().namespaces:
            notices = (Notice(f'session database "{value}" does not exist', "3D000"),)
        told = ((name, value),) if VARIABLES[name].reported else ()
        return Done("SET" if planned.value is not None else "RESET", notices, told)

    def _control(self, action: Literal["begin", "commit", "rollback"]) -> Done:
        transaction = self._transaction
        if action == "begin":
            if transaction is not None:
                return Done("BEGIN", (_OPEN,))
            picture = snapshot.current(self.region)
            self._transaction = OpenTransaction(
                picture, Purifier(self.region), self.variables.copy()
            )
            return Done("BEGIN")
        if transaction is None:
            return Done(action.upper(), (_NONE,))
        self._cursors.close()
        self._transaction = None
        if action == "rollback" or transaction.failed:
            self.variables = transaction.variables
            return Done("ROLLBACK")
        self._commit(transaction)
        return Done("COMMIT")

    def _discard(self, statement: nodes.Discard) -> Done:
        """DISCARD ALL takes the variables back to their defaults; there is nothing temporary."""
        tag = f"DISCARD {statement.target.upper()}"
        self._refuse_when_failed(statement)
        if statement.target == "all":
            if self._transaction is not None:
                message = f"{tag} cannot run inside a transaction block"
                raise StatementError(message, sqlstate="25001")
            self.variables = Variables()
        return Done(tag)

    def _savepoint(self, statement: nodes.Savepoint) -> Done:
        transaction = self._transaction
        tag = statement.action.split()[0].upper()
        if transaction is None:
            message = f"{statement.action.upper()} can only be used in transaction blocks"
            raise StatementError(message, sqlstate="25P01")
        if statement.action == "rollback to":
            self.variables = transaction.go_back(statement.name)
            return Done(tag)
        self._refuse_when_failed(statement)
        if statement.action == "savepoint":
            transaction.save(statement.name, self.variables)
        else:
            transaction.release(statement.name)
        return Done(tag)

    def _commit(self, transaction: OpenTransaction) -> None:
        self._sequencer.flush(transaction)
        if not transaction.operations:
            return
        try:
            self._sequencer.commit(
                transaction.operations, transaction.base.revision, self.variables.timeout
            )
        except StaleCatalog:
            again = OpenTransaction(
                snapshot.current(self.region), transaction.purifier, transaction.variables
            )
            for statement, facts in transaction.statements:
                planned = self._plan(statement, facts, again.picture)
                if isinstance(planned, Change):
                    again.add(statement, facts, planned)
            self._sequencer.commit(again.operations, again.base.revision, self.variables.timeout)
