"""CREATE SOURCE, ALTER SOURCE .. REFRESH REFERENCES."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast, get_args

from catalog.errors import InvalidStatement, WrongItemType
from catalog.plan import legacy_source
from catalog.plan.creation import full, new_entry
from catalog.plan.facts import UpstreamFacts
from catalog.plan.frontiers import LSN as LSN
from catalog.plan.frontiers import OFFSET as OFFSET
from catalog.plan.frontiers import frontier_of
from catalog.plan.item import missing
from catalog.plan.operations import CreateItem, SetReferences
from catalog.plan.options import Options
from catalog.plan.picture import SourceFacts
from catalog.plan.plans import Change
from catalog.plan.scope import Scope, refused, supported_cluster
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.render import render
from ingest.contract.commands import Generator, GeneratorKind

GENERATOR_OPTIONS: dict[str, tuple[str, ...]] = {
    "auction": ("TICK INTERVAL", "AS OF", "UP TO", "SEED"),
    "counter": ("TICK INTERVAL", "AS OF", "UP TO", "MAX CARDINALITY"),
    "tpch": ("TICK INTERVAL", "AS OF", "UP TO", "SCALE FACTOR", "SEED"),
    "key value": (
        "TICK INTERVAL",
        "AS OF",
        "UP TO",
        "KEYS",
        "SNAPSHOT ROUNDS",
        "TRANSACTIONAL SNAPSHOT",
        "VALUE SIZE",
        "SEED",
        "PARTITIONS",
        "BATCH SIZE",
    ),
}
NUMBERS = {
    "AS OF",
    "UP TO",
    "MAX CARDINALITY",
    "SCALE FACTOR",
    "KEYS",
    "SNAPSHOT ROUNDS",
    "VALUE SIZE",
    "SEED",
    "PARTITIONS",
    "BATCH SIZE",
}
REQUIRED = {
    "key value": ("KEYS", "SNAPSHOT ROUNDS", "VALUE SIZE", "SEED", "PARTITIONS", "BATCH SIZE")
}


def create_source(statement: CreateSource, facts: UpstreamFacts, scope: Scope) -> Change:
    """A source: its connection and what it consumes; it makes no table by itself (seed 000).

    Where the flags allow the older form it has a subsource for its progress, and those that its
    statement asks for; the only output of a generator is its own.
    """
    path = scope.new_path(statement.name)
    tag = "CREATE SOURCE"
    if notice := scope.taken("source", path, if_not_exists=statement.if_not_exists):
        return Change(tag, notices=(notice,))
    supported_cluster(statement.cluster)
    legacy_source.check_form(statement, scope)
    details = _details(statement, facts, scope)
    needs = (details.connection,) if details.connection else ()
    touches = tuple(scope.picture.entries[item] for item in needs)
    canonical = replace(
        statement,
        name=full(path),
        connection=full(touches[0].path) if touches else None,
        cluster=None,
        if_not_exists=False,
    )
    fields: dict[str, Any] = {"facts": details, "relation": frontier_of(details)}
    if not legacy_source.forced(scope):
        fields = legacy_source.with_output(statement, path, details, facts, scope)
        canonical = legacy_source.canonical(canonical, path, facts.references, scope)
    entry = new_entry(scope, "source", path, render(canonical), needs=needs, **fields)
    upstream = facts.upstream or f"load-generator://{entry.id}"
    made: tuple[CreateItem, ...] = (
        CreateItem(entry, references=facts.references, upstream=upstream),
    )
    if not legacy_source.forced(scope):
        made += legacy_source.parts(statement, entry, facts, scope)
    return Change(tag, made, touches=touches)


def _details(statement: CreateSource, facts: UpstreamFacts, scope: Scope) -> SourceFacts:
    if statement.kind == "postgres":
        return resolve_source(statement, scope)
    generator = resolve_generator(statement, facts.now)
    return SourceFacts(
        "load-generator",
        generator=generator.kind,
        options=generator.options,
        started_at=generator.started_at,
    )


def resolve_source(statement: CreateSource, scope: Scope) -> SourceFacts:
    """A PostgreSQL source's connection and publication."""
    if statement.connection is None:
        message = "CREATE SOURCE .. FROM POSTGRES requires a CONNECTION"
        raise InvalidStatement(message, sqlstate="42601")
    connection = scope.item(statement.connection, "connection")
    if connection.connection.type != "postgres":
        message = f"{connection.name} is not a POSTGRES CONNECTION"
        raise WrongItemType(message)
    options = Options(legacy_source.without_columns(statement.options), "POSTGRES SOURCE")
    options.only(("PUBLICATION",))
    publication = options.text("PUBLICATION")
    if not publication:
        message = "POSTGRES CONNECTION must specify PUBLICATION"
        raise InvalidStatement(message, hint="Add (PUBLICATION 'name') after the connection.")
    return SourceFacts("postgres", connection=connection.id, publication=publication)


def resolve_generator(statement: CreateSource, now: int) -> Generator:
    """A load generator with its options checked; it starts at `now` (ms)."""
    kind = statement.generator.lower()
    if statement.kind != "load generator" or kind not in get_args(GeneratorKind):
        shown = kind if statement.kind == "load generator" else statement.kind
        raise refused("CREATE SOURCE FROM " + shown.upper())
    options = Options(statement.options, f"LOAD GENERATOR {kind.upper()}")
    options.only(GENERATOR_OPTIONS[kind])
    for name in REQUIRED.get(kind, ()):
        options.required(name)
    found: dict[str, str] = {}
    for name in options.found:
        value = options.text(name)
        if value is None:
            continue
        if name in NUMBERS and not re.fullmatch(r"\d+(\.\d+)?", value):
            raise options.invalid(name, f'"{value}" is not a number')
        found[name.lower()] = value
    return Generator(cast(GeneratorKind, kind), now, found)


def refresh_references(statement: RefreshReferences, facts: UpstreamFacts, scope: Scope) -> Change:
    """What upstream has now takes the place of what was known; the differences are kept."""
    tag = "ALTER SOURCE"
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(tag, notices=(missing("source", statement.name),))
    entry = scope.item(statement.name, "source")
    return Change(tag, (SetReferences(entry, facts.references),), touches=(entry,))
