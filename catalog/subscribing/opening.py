"""From a plan to a subscription: what is followed, in which shape, from when to when."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from catalog.answering import Reader
from catalog.as_of import as_of
from catalog.bounds import bounds
from catalog.errors import InvalidStatement, NotSupported
from catalog.moments import Wanted, moment
from catalog.oracle import newest_time, read_floor
from catalog.plan.plans import Follow, Read
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.query.compile import compile_query, inspect
from catalog.results import Notice, Stream
from catalog.sql.nodes.query import Select
from catalog.subscribing.shaping import shape
from catalog.subscribing.subjects import Computed, Recorded, Subject, moment_of
from catalog.subscribing.subscription import Span, Subscription
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

    def read() -> pa.Table:
        at = exp.Literal.number(span.as_of)
        select = replace(plan.select, as_of=at, as_of_text="", at_least=False)
        return reader.read(Read(select), scope, variables, None).data

    subscription = Subscription(subject, form, span, read, reader.role)
    return Stream("SUBSCRIBE", form.relation, subscription, notices)


def _subject(plan: Follow, reader: Reader, scope: Scope) -> Subject:
    if plan.entry is not None:
        entry = plan.entry
        sealed = entry.kind == "materialized view" and entry.view.sealed
        exact = entry.kind == "table"
        return Recorded(scope.picture.region, entry.id, entry.path, entry.relation, exact, sealed)
    return _computed(plan.select, reader.names(scope), scope)


def _computed(select: Select, names: ReadableNames, scope: Scope) -> Computed:
    region = scope.picture.region
    found = inspect(select.query, names)
    if found.kind == "system":
        message = "SUBSCRIBE to system catalog relations is not supported yet"
        raise NotSupported(message, hint="Ask for them again with SELECT.")
    now = newest_time(region)
    compiled = compile_query(select.query, names, moment_of(now))
    later = compile_query(select.query, names, moment_of(now + 86_400_001))
    entries = scope.picture.entries
    reads = tuple((item, entries[item].path) for item in sorted(found.items | found.views))
    return Computed(
        region,
        select.query,
        names,
        compiled.sql,
        compiled.relation,
        reads,
        tuple(sorted(compiled.items)),
        moves=compiled.sql != later.sql,
    )


def _span(
    plan: Follow, subject: Subject, reader: Reader, scope: Scope, variables: Variables
) -> tuple[Span, tuple[Notice, ...]]:
    statement, region = plan.statement, reader.region
    entries = [scope.picture.entries[item] for item in subject.items]
    asked = as_of(statement.as_of, region)
    up_to = as_of(statement.up_to, region)
    if asked is not None and not statement.at_least:
        _bounded(asked, up_to)
    strict = variables["transaction_isolation"] == "strict serializable"
    at_least = max(reader.seen, read_floor(region)) if strict else 0
    newest = Wanted(at_least, None, variables.timeout, strict)
    if asked is None:
        time = moment(region, scope.picture, entries, newest)
    else:
        if statement.at_least:
            moment(region, scope.picture, entries, replace(newest, at_least=0))
            asked = max(asked, bounds(region, scope.picture, entries).since)
        time = moment(region, scope.picture, entries, replace(newest, at_least=0, as_of=asked))
    notices = _bounded(time, up_to)
    reader.seen = max(reader.seen, time)
    return Span(time, up_to, snapshot=statement.flag("SNAPSHOT", default=True)), notices


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
