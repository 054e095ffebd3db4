"""SELECT: which engine answers it, at which time, and the answer."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable

from sqlglot import exp

from catalog.errors import StatementError
from catalog.models import FeedProgress
from catalog.open_transaction import OpenTransaction
from catalog.plan.picture import Entry, Picture
from catalog.plan.plans import Read
from catalog.plan.plans import Rows as Made
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.planes import plane_of
from catalog.query.binder import Moment
from catalog.query.compile import compile_query, inspect
from catalog.query.names import Names, Resolved
from catalog.results import Notice, Rows
from catalog.rows import answer_of
from catalog.system import run as system
from catalog.system.registry import lookup
from catalog.time.as_of import as_of
from catalog.time.bounds import fed_through, view_bounds
from catalog.time.inputs import inputs_of
from catalog.time.moments import Wanted
from catalog.time.oracle import newest_time, raise_read_floor, read_floor
from catalog.time.placing import Placed, Placing
from catalog.variables import Variables
from ingest import engine
from ingest.contract.commands import Query
from ingest.contract.relation import Column, Relation
from ingest.contract.types import MZ_TIMESTAMP, TEXT

_TIMESTAMP = Relation(
    (
        Column("timestamp", MZ_TIMESTAMP, nullable=False),
        Column("input", TEXT),
        Column("complete_through", MZ_TIMESTAMP),
    )
)


class SystemNames:
    """The built-in relations of a region as a query sees them."""

    def __init__(self, region: str) -> None:
        self._region = region

    def relation_of(self, query: exp.Query, names: Names, database: str) -> Relation:
        """The columns of a query over built-in relations; raises StatementError."""
        outer = exp.select("*").from_(query.copy().subquery("q")).limit(0)
        return system.run(outer, self._region, system.Session(database=database), names).relation

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """The built-in relation of that name, or None."""
        found = lookup(parts)
        return None if found is None else Resolved(found.id, "system", found.relation)


class Reader:
    """Answers one session's queries; `seen` is the newest time (ms) that it has answered at."""

    def __init__(self, region: str, role: str) -> None:
        self.region = region
        self.role = role
        self.seen = 0
        self._tag = uuid.uuid4().hex

    def cancel(self) -> None:
        """Stop the query that is running; may be called from another thread."""
        engine.cancel(plane_of(self.region), self._tag)

    def read(
        self,
        plan: Read,
        scope: Scope,
        variables: Variables,
        transaction: OpenTransaction | None,
    ) -> Rows:
        """The rows of a query. Raises StatementError and IngestError."""
        names = self.names(scope)
        reads = inspect(plan.select.query, names)
        if reads.kind != "data":
            return self._answer_here(plan, names, variables)
        tables = [scope.picture.entries[item] for item in sorted(reads.items)]
        _refuse_unwritten(tables, transaction)
        place = self._place(plan, names, variables, transaction)
        time = place.time
        if plan.explain_timestamp:
            return self._explain(time, tables, scope.picture)
        query = self.compiled(plan, place.names, scope, time, variables)
        result = engine.read(plane_of(self.region), query[0])
        self.seen = max(self.seen, time)
        notices: tuple[Notice, ...] = ()
        if variables["emit_timestamp_notice"] == "on":
            notices = (Notice(f"query timestamp: {time}"),)
        return Rows(f"SELECT {result.data.num_rows}", query[1], result.data, notices, time)

    def describe(self, plan: Read, scope: Scope, variables: Variables) -> Relation:
        """The columns of a query's answer; raises StatementError."""
        if plan.explain_timestamp:
            return _TIMESTAMP
        names = self.names(scope)
        if inspect(plan.select.query, names).kind != "data":
            return self._answer_here(plan, names, variables).relation
        return self.compiled(plan, names, scope, newest_time(self.region), variables)[1]

    def compiled(
        self, plan: Read, names: Names, scope: Scope, time: int, variables: Variables
    ) -> tuple[Query, Relation]:
        """The query for the data plane, and what comes back."""
        now = dt.datetime.fromtimestamp(time / 1000, tz=dt.UTC)
        compiled = compile_query(plan.select.query, names, Moment(time, now))
        inputs = inputs_of(compiled.items, scope.picture)
        query = Query(compiled.sql, inputs, time, timeout=variables.timeout, tag=self._tag)
        return query, compiled.relation

    def names(self, scope: Scope) -> ReadableNames:
        """What a query may read, seen from the session."""
        return ReadableNames(scope, self.system(), self._progress)

    def system(self) -> Names:
        """The built-in relations."""
        return SystemNames(self.region)

    def _progress(self, entry: Entry) -> int:
        rows = FeedProgress.objects.filter(
            feed__region__name=self.region, feed__gid=entry.source.feed
        )
        return rows.values_list("upto", flat=True).first() or 0

    def _answer_here(self, plan: Read, names: ReadableNames, variables: Variables) -> Rows:
        """Built-in relations and constants, at the newest time."""
        time = newest_time(self.region)
        if plan.explain_timestamp:
            return self._explain(time, [], names.scope.picture)
        scope = names.scope
        session = system.Session(
            database=scope.database,
            schema=scope.search_path[0] if scope.search_path else "",
            role=self.role,
            mz_now=time,
        )
        result = system.run(plan.select.query, self.region, session, names)
        tag = f"SELECT {result.data.num_rows}"
        return Rows(tag, result.relation, result.data, timestamp=time)

    def _place(
        self,
        plan: Read,
        names: ReadableNames,
        variables: Variables,
        transaction: OpenTransaction | None,
    ) -> Placed:
        """The time to read at, the same for all reads of a transaction, and what is read then."""
        exact = as_of(plan.select.as_of, self.region)
        fixed = exact
        if exact is None and transaction is not None:
            fixed = transaction.timestamp
        strict = variables["transaction_isolation"] == "strict serializable"
        floor = read_floor(self.region) if strict and fixed is None else 0
        at_least = max(self.seen, floor) if strict else 0
        if exact is not None and plan.select.at_least:
            at_least, fixed = max(at_least, exact), None
        wanted = Wanted(at_least, fixed, variables.timeout, strict and exact is None)
        place = Placing(names.scope.picture, plan.select.query, names).find(wanted)
        if strict and fixed is None and place.time > floor:
            raise_read_floor(self.region, place.time)
        if transaction is not None and exact is None:
            transaction.timestamp = place.time
        return place

    def placed(self, query: exp.Query, names: ReadableNames, wanted: Wanted) -> Placed:
        """Where a query that is part of a write stands."""
        return Placing(names.scope.picture, query, names).find(wanted)

    def _explain(self, time: int, tables: list[Entry], picture: Picture) -> Rows:
        feeds = {
            table.id: picture.entries[table.table.source].source.feed
            for table in tables
            if table.fed
        }
        fed = fed_through(self.region, set(feeds.values()))
        through = {table: fed.get(feed) for table, feed in feeds.items()}
        views = [table for table in tables if table.kind == "materialized view"]
        for item, found in view_bounds(self.region, views).items():
            through[item] = found.through or None
        made = tuple((time, ".".join(table.path), through.get(table.id)) for table in tables)
        return answer_of(Made("EXPLAIN", _TIMESTAMP, made or ((time, None, None),)))


def _refuse_unwritten(tables: Iterable[Entry], transaction: OpenTransaction | None) -> None:
    """Raise StatementError for a table whose new rows wait for this transaction's COMMIT."""
    written = {one.target.id for one in transaction.writes} if transaction else set()
    for table in tables:
        if table.id in written:
            message = "transaction in write-only mode"
            detail = f'Its rows for table "{table.name}" are written at COMMIT.'
            hint = "COMMIT first, then read."
            raise StatementError(message, detail=detail, hint=hint, sqlstate="25000")
