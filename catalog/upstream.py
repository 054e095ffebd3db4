"""Purification: what a statement refers to upstream is asked before it is planned.

The only step that talks to upstream systems before a commit. Within a transaction every source is
asked once, however many tables are made from it.
"""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Iterable

from catalog.errors import InvalidStatement, UnknownItem, UpstreamProblem, WrongItemType
from catalog.names import dotted
from catalog.oracle import next_time
from catalog.plan.connection import resolve_connection
from catalog.plan.facts import NOTHING, UpstreamFacts
from catalog.plan.operations import CreateItem, Operation, SetSecret
from catalog.plan.picture import Entry
from catalog.plan.scope import Scope
from catalog.plan.source import resolve_generator, resolve_source
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import CreateTableFromSource
from catalog.targets import generator, postgres_target
from ingest import engine
from ingest.contract.upstream import Check, PostgresTarget, Reference


class Purifier:
    """Fills statements in for one transaction, or for one statement outside of any."""

    def __init__(self, region: str) -> None:
        self.region = region
        self.group = uuid.uuid4().hex
        self._references: dict[str, tuple[Reference, ...]] = {}
        self._secrets: dict[str, str] = {}

    def fill_in(self, statement: Statement, scope: Scope) -> UpstreamFacts:
        """What upstream says of the statement; raises UpstreamProblem and IngestError."""
        match statement:
            case CreateConnection():
                return self._connection(statement, scope)
            case ValidateConnection():
                entry = scope.item(statement.name, "connection")
                target = postgres_target(self.region, entry.connection, self._secrets)
                return UpstreamFacts(checks=engine.check_connection(target))
            case CreateSource():
                return self._source(statement, scope)
            case RefreshReferences():
                return self._refresh(statement, scope)
            case CreateTableFromSource():
                return self._table(statement, scope)
            case _:
                return NOTHING

    def learn(self, operations: Iterable[Operation]) -> None:
        """Remember what a planned statement adds, for later ones of the same transaction."""
        for operation in operations:
            if (
                isinstance(operation, CreateItem) and operation.entry.kind == "secret"
            ) or isinstance(operation, SetSecret):
                self._secrets[operation.entry.id] = operation.secret
            elif isinstance(operation, CreateItem) and operation.entry.kind == "source":
                self._references[operation.entry.id] = operation.references

    def _connection(self, statement: CreateConnection, scope: Scope) -> UpstreamFacts:
        path = scope.new_path(statement.name)
        facts, _ = resolve_connection(statement, scope)
        target = postgres_target(self.region, facts, self._secrets)
        if path in scope.picture.by_path or statement.validate is False:
            return NOTHING
        checks = engine.check_connection(target)
        _refuse(checks)
        return UpstreamFacts(checks=checks)

    def _source(self, statement: CreateSource, scope: Scope) -> UpstreamFacts:
        if scope.new_path(statement.name) in scope.picture.by_path:
            return NOTHING
        now = next_time(self.region)
        if statement.kind != "postgres":
            made = resolve_generator(statement, now)
            return UpstreamFacts(references=engine.list_references(made), now=now)
        facts = resolve_source(statement, scope)
        connection = scope.picture.entries[facts.connection].connection
        target = postgres_target(self.region, connection, self._secrets)
        checks = engine.check_publication(target, facts.publication)
        _refuse(checks)
        references = _published(target, facts.publication)
        return UpstreamFacts(references, checks, upstream=target.identity, now=now)

    def _refresh(self, statement: RefreshReferences, scope: Scope) -> UpstreamFacts:
        if statement.if_exists and scope.find(statement.name) is None:
            return NOTHING
        source = scope.item(statement.name, "source")
        self._references[source.id] = self.ask(source, scope)
        return UpstreamFacts(references=self._references[source.id])

    def ask(self, source: Entry, scope: Scope) -> tuple[Reference, ...]:
        """What a source's upstream offers now."""
        facts = source.source
        if facts.type == "webhook":
            message = f"{source.name} is a webhook: it has no upstream that could be asked"
            raise WrongItemType(message)
        if facts.type != "postgres":
            return engine.list_references(generator(facts))
        connection = scope.picture.entries[facts.connection].connection
        target = postgres_target(self.region, connection, self._secrets)
        return _published(target, facts.publication)

    def _table(self, statement: CreateTableFromSource, scope: Scope) -> UpstreamFacts:
        if scope.new_path(statement.name) in scope.picture.by_path:
            return NOTHING
        source = scope.item(statement.source, "source")
        if source.id not in self._references:
            self._references[source.id] = self.ask(source, scope)
        database = ""
        if source.source.connection:
            connection = scope.picture.entries[source.source.connection].connection
            database = connection.options["database"]
        found = resolve_reference(
            statement.reference, self._references[source.id], source, database
        )
        _refuse(found.problems)
        return UpstreamFacts(references=(found,), group=self.group)


def resolve_reference(
    name: Name | None, references: tuple[Reference, ...], source: Entry, database: str = ""
) -> Reference:
    """The reference that a name of one to three parts means among what the source offers."""
    if name is None:
        if len(references) == 1:
            return references[0]
        message = "CREATE TABLE .. FROM SOURCE requires a REFERENCE"
        hint = f"Write (REFERENCE name); {_some(references)}"
        raise InvalidStatement(message, hint=hint, sqlstate="42601")
    at = name.at if name.at >= 0 else None
    parts = name.parts
    if len(parts) == 3 and parts[0] == database:
        parts = parts[1:]
    found = [
        reference
        for reference in references
        if (reference.namespace, reference.name)[-len(parts) :] == parts
    ]
    if len(found) == 1:
        return found[0]
    shown = dotted(name.parts)
    if found:
        message = (
            f"reference {shown} is ambiguous, "
            "consider specifying an additional layer of qualification"
        )
        names = ", ".join(dotted((one.namespace, one.name)) for one in found[:10])
        raise InvalidStatement(message, detail=f"It could be {names}.", position=at)
    message = f"reference {shown} not found in source"
    raise UnknownItem(
        message,
        detail=f"Source {dotted(source.path)} has {len(references)} references.",
        hint=_near(shown, references),
        position=at,
    )


def _near(shown: str, references: tuple[Reference, ...]) -> str:
    names = [dotted((reference.namespace, reference.name)) for reference in references]
    near = difflib.get_close_matches(shown, names, n=1, cutoff=0.5)
    if near:
        return f'Did you mean "{near[0]}"?'
    return "Add the table to the publication upstream, then ALTER SOURCE .. REFRESH REFERENCES."


def _some(references: tuple[Reference, ...]) -> str:
    names = ", ".join(dotted((one.namespace, one.name)) for one in references[:5])
    return f"the source offers {names}{', ..' if len(references) > 5 else ''}."


def _published(target: PostgresTarget, publication: str) -> tuple[Reference, ...]:
    references = engine.list_references(target, publication)
    if not references:
        message = f"PUBLICATION {publication} is empty"
        hint = "Add tables upstream: ALTER PUBLICATION .. ADD TABLE .."
        raise UpstreamProblem(message, hint=hint, sqlstate="55000")
    return references


def _refuse(checks: Iterable[Check]) -> None:
    """Raise UpstreamProblem when a check failed; the first failure is the message."""
    every = tuple(checks)
    failed = [check for check in every if check.level == "error"]
    if failed:
        first = failed[0]
        hint = first.fix
        if first.upstream_sql:
            hint = f"{hint} Run upstream: {first.upstream_sql}".strip()
        raise UpstreamProblem(
            first.summary,
            checks=every,
            detail=first.cause or None,
            hint=hint or None,
            sqlstate=first.sqlstate or _STATES.get(first.name),
        )


_STATES = {
    "publication exists": "42704",
    "publication tables": "55000",
    "publication operations": "55000",
    "wal level": "55000",
    "replication slots": "53400",
    "wal senders": "53400",
    "version": "0A000",
    "no key": "55000",
    "unlogged": "55000",
}
"""SQLSTATEs of checks; those that are not here are about privileges."""
