"""Purification: what a statement refers to upstream is asked before it is planned.

The only step that talks to upstream systems before a commit. Within a transaction every source is
asked once, however many tables are made from it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from catalog.errors import UpstreamProblem, WrongItemType
from catalog.plan import legacy_source
from catalog.plan.connection import resolve_connection
from catalog.plan.facts import NOTHING, UpstreamFacts
from catalog.plan.operations import CreateItem, Operation, SetSecret
from catalog.plan.picture import Entry, SourceFacts
from catalog.plan.referring import resolve_reference
from catalog.plan.scope import Scope
from catalog.plan.source import resolve_generator, resolve_source
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.legacy import AddSubsources
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import CreateTableFromSource
from catalog.time.oracle import next_time
from catalog.upstream.targets import generator, postgres_target
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
            case AddSubsources():
                return self._add(statement, scope)
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
        path = scope.new_path(statement.name)
        if path in scope.picture.by_path:
            return NOTHING
        legacy_source.check_form(statement, scope)
        now = next_time(self.region)
        if statement.kind != "postgres":
            made = resolve_generator(statement, now)
            references = engine.list_references(made)
            return UpstreamFacts(references, now=now, group=self.group)
        facts = resolve_source(statement, scope)
        connection = scope.picture.entries[facts.connection].connection
        target = postgres_target(self.region, connection, self._secrets)
        checks = engine.check_publication(target, facts.publication)
        _refuse(checks)
        references = _published(target, facts.publication)
        for one in legacy_source.chosen(statement, path, references, target.database):
            _refuse(one.reference.problems)
        return UpstreamFacts(references, checks, target.identity, now, self.group)

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

    def _add(self, statement: AddSubsources, scope: Scope) -> UpstreamFacts:
        found = scope.find(statement.name)
        if found is None or not isinstance(found.facts, SourceFacts):
            return NOTHING
        references = self._known(found, scope)
        database = legacy_source.database_of(found, scope)
        for one, _ in legacy_source.named(statement.tables, found.path, references, database):
            _refuse(one.problems)
        return UpstreamFacts(references, group=self.group)

    def _known(self, source: Entry, scope: Scope) -> tuple[Reference, ...]:
        """What the source's upstream offers, asked once in a transaction."""
        if source.id not in self._references:
            self._references[source.id] = self.ask(source, scope)
        return self._references[source.id]

    def _table(self, statement: CreateTableFromSource, scope: Scope) -> UpstreamFacts:
        if scope.new_path(statement.name) in scope.picture.by_path:
            return NOTHING
        source = scope.item(statement.source, "source")
        if not isinstance(source.facts, SourceFacts):
            message = f"{source.name} is a subsource: tables are made from its source"
            raise WrongItemType(message)
        references = self._known(source, scope)
        database = legacy_source.database_of(source, scope)
        found = resolve_reference(statement.reference, references, source.path, database)
        _refuse(found.problems)
        return UpstreamFacts(references=(found,), group=self.group)


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
