"""From a plan to a subscription: what is followed, in which shape, from when to when."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from catalog import snapshot
from catalog.answering import Reader
from catalog.errors import InvalidStatement, NotSupported
from catalog.plan.picture import Entry
from catalog.plan.plans import Follow, Read
from catalog.plan.scope import Scope
from catalog.query.compile import compile_query, compile_view, inspect
from catalog.results import Notice, Stream
from catalog.sql.nodes.query import Select
from catalog.subscribing.polled import Polled
from catalog.subscribing.shaping import shape
from catalog.subscribing.subjects import Computed, Recorded, Subject, moment_of
from catalog.subscribing.subscription import Span, Subscription
from catalog.time.as_of import as_of
from catalog.time.bounds import bounds
from catalog.time.moments import Wanted
from catalog.time.oracle import newest_time, read_floor
from catalog.time.placing import Placing
from catalog.variables import Variables
from ingest.contract.relation import Relation


def describe(plan: Follow, reader: Reader, scope: Scope) -> Relation:
    """The columns of a subscription's rows; raises StatementError."""
    subject = _subject(plan, reader, scope)
    return shape(plan.statement, subject.columns).relation


def subscribe(plan: Follow, reader: Reader, scope: Scope, variables: Variables) -> Stream:
    """Begin to follow; the snapshot is read by the first `take`.

    Raises StatementError for what cannot be followed or a time that cannot be read, Transient
    for what is not readable yet.
    """
    subject = _subject(plan, reader, scope)
    form = shape(plan.statement, subject.columns)
    span, notices = _span(plan, subject, reader, scope, variables)

    def rows() -> pa.Table:
        return reader.read(_as_of(plan.select, span.as_of), scope, variables, None).data

    read = subject.begin if isinstance(subject, Polled) else rows if span.snapshot else None
    subscription = Subscription(subject, form, span, read, reader.role)
    return Stream("SUBSCRIBE", form.relation, subscription, notices)


def _as_of(select: Select, time: int | None) -> Read:
    """The query at a time; None is now."""
    at = None if time is None else exp.Literal.number(time)
    return Read(replace(select, as_of=at, as_of_text="", at_least=False))


def _subject(plan: Follow, reader: Reader, scope: Scope) -> Subject:
    if plan.entry is not None:
        return _recorded(plan.entry, plan.select, reader, scope)
    names = reader.names(scope)
    found = inspect(plan.select.query, names)
    sources = any(entry.kind == "source" and not entry.fed for entry in names.used.values())
    if found.kind == "system" or sources:
        return _polled(plan.select, reader, scope)
    region = scope.picture.region
    now = newest_time(region)
    compiled = compile_query(plan.select.query, names, moment_of(now))
    later = compile_query(plan.select.query, names, moment_of(now + 86_400_001))
    moves = compiled.sql != later.sql
    entries = scope.picture.entries
    return Computed(
        region,
        plan.select.query,
        names,
        compiled.sql,
        compiled.relation,
        tuple((item, entries[item].path) for item in sorted(found.items | found.views)),
        tuple(sorted(compiled.items)),
        None if moves else compile_view(plan.select.query, names),
    )


def _recorded(entry: Entry, select: Select, reader: Reader, scope: Scope) -> Recorded:
    columns = entry.relation
    query = select.query.copy()
    names = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns.names]
    query.set("expressions", names)

    def rows(time: int) -> pa.Table:
        own = Reader(reader.region, reader.role)
        now = replace(scope, picture=snapshot.current(reader.region))
        return own.read(_as_of(Select(query), time), now, Variables(), None).data

    sealed = entry.kind == "materialized view" and entry.view.sealed
    exact = entry.kind == "table" or entry.fed
    return Recorded(reader.region, entry.id, entry.path, columns, rows, exact, sealed)


def _polled(select: Select, reader: Reader, scope: Scope) -> Polled:
    def rows() -> pa.Table:
        own = Reader(reader.region, reader.role)
        now = replace(scope, picture=snapshot.current(reader.region))
        return own.read(_as_of(select, None), now, Variables(), None).data

    columns = reader.describe(Read(select), scope, Variables())
    return Polled(reader.region, select.query.sql(dialect="postgres"), columns, rows)


def _span(
    plan: Follow, subject: Subject, reader: Reader, scope: Scope, variables: Variables
) -> tuple[Span, tuple[Notice, ...]]:
    statement = plan.statement
    asked, up_to = as_of(statement.as_of, reader.region), as_of(statement.up_to, reader.region)
    if asked is not None and not statement.at_least:
        _bounded(asked, up_to)
    if not isinstance(subject, Polled):
        time = _begins(plan, asked, reader, scope, variables)
    elif asked is not None and not statement.at_least:
        message = "AS OF is not supported for relations of the system catalog"
        raise NotSupported(message, hint="They are known as they are now only.")
    else:
        time = newest_time(reader.region)
    reader.seen = max(reader.seen, time)
    span = Span(time, up_to, snapshot=statement.flag("SNAPSHOT", default=True))
    return span, _bounded(time, up_to)


def _begins(
    plan: Follow, asked: int | None, reader: Reader, scope: Scope, variables: Variables
) -> int:
    """The time (ms) to begin at: what was asked for, or the newest that can be read exactly."""
    strict = variables["transaction_isolation"] == "strict serializable"
    at_least = max(reader.seen, read_floor(reader.region)) if strict else 0
    wanted = Wanted(at_least, None, variables.timeout, strict)
    names = reader.names(scope)
    place = Placing(scope.picture, plan.select.query, names)
    if asked is None:
        return place.find(wanted).time
    if plan.statement.at_least:
        place.find(replace(wanted, at_least=0, strict=False))
        found = inspect(plan.select.query, names).items
        entries = [scope.picture.entries[item] for item in sorted(found)]
        asked = max(asked, bounds(reader.region, scope.picture, entries).since)
    again = Placing(scope.picture, plan.select.query, names)
    return again.find(replace(wanted, at_least=0, as_of=asked)).time


def _bounded(time: int, up_to: int | None) -> tuple[Notice, ...]:
    """Raise InvalidStatement for an end before the beginning; a notice for an empty span."""
    if up_to is None or time < up_to:
        return ()
    if time > up_to:
        message = (
            "subscription lower bound (`AS OF`) is greater than its upper bound (`UP TO`): "
            f"{time} > {up_to}"
        )
        raise InvalidStatement(message, sqlstate="22000")
    message = (
        f"subscribe as of {time} (inclusive) up to the same bound {up_to} (exclusive) is "
        "guaranteed to be empty"
    )
    return (Notice(message, severity="notice"),)
