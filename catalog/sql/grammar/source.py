"""CREATE SOURCE, ALTER SOURCE .. REFRESH REFERENCES."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.legacy import (
    COLUMN_OPTIONS,
    add_subsources,
    drop_subsources,
    exports,
)
from catalog.sql.grammar.legacy import progress as expose_progress
from catalog.sql.grammar.options import Kind, options
from catalog.sql.grammar.webhook import create_webhook
from catalog.sql.nodes.legacy import AddSubsources, DropSubsources
from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.nodes.webhook import CreateWebhook

GENERATORS = ("AUCTION", "COUNTER", "TPCH", "KEY VALUE")
GENERATOR_OPTIONS: dict[str, Kind] = {
    "TICK INTERVAL": "text",
    "AS OF": "number",
    "UP TO": "number",
    "SCALE FACTOR": "number",
    "MAX CARDINALITY": "number",
    "KEYS": "number",
    "SNAPSHOT ROUNDS": "number",
    "TRANSACTIONAL SNAPSHOT": "flag",
    "VALUE SIZE": "number",
    "SEED": "number",
    "PARTITIONS": "number",
    "BATCH SIZE": "number",
}
WITH_OPTIONS: dict[str, Kind] = {"RETAIN HISTORY": "retention", "TIMESTAMP INTERVAL": "text"}
_REFUSED_OPTIONS = ("IGNORE COLUMNS", "DETAILS")
_OTHER_KINDS = (("MYSQL",), ("SQL", "SERVER"), ("KAFKA",))
_INSTEAD = "not supported; use CREATE TABLE .. FROM SOURCE instead"


def create_source(cursor: Cursor) -> CreateSource | CreateWebhook:
    """After `CREATE SOURCE`."""
    if_not_exists, name = cursor.if_not_exists(), cursor.name()
    cluster = None
    if cursor.accept("IN", "CLUSTER"):
        cluster = Name((cursor.identifier(),), cursor.at(cursor.tokens[cursor.index - 1]))
    cursor.expect("FROM")
    if cursor.accept("WEBHOOK"):
        return create_webhook(cursor, "source", name, cluster=cluster, if_not_exists=if_not_exists)
    for words in _OTHER_KINDS:
        if cursor.peek(*words):
            cursor.not_supported(f"{' '.join(words)} sources are not supported yet")
    if not (cursor.peek("POSTGRES") or cursor.peek("LOAD")):
        cursor.expected("one of POSTGRES or KAFKA or LOAD")
    if cursor.accept("POSTGRES"):
        cursor.expect("CONNECTION")
        kind, connection, generator = "postgres", cursor.name(), ""
        chosen = _postgres_options(cursor)
    else:
        cursor.expect("LOAD", "GENERATOR")
        kind, connection, generator = "load generator", None, _generator(cursor)
        chosen = options(cursor, GENERATOR_OPTIONS) if cursor.peek("(") else ()
    exported, progress = exports(cursor), expose_progress(cursor)
    with_options = options(cursor, WITH_OPTIONS) if cursor.accept("WITH") else ()
    return CreateSource(
        name,
        kind,
        chosen,
        connection,
        generator,
        cluster,
        if_not_exists,
        with_options,
        exported,
        progress,
    )


def alter_source(cursor: Cursor) -> RefreshReferences | AddSubsources | DropSubsources:
    """After `ALTER SOURCE`, where no RENAME follows."""
    if_exists, name = cursor.if_exists(), cursor.name()
    for word in ("SUBSOURCE", "TABLE"):
        if cursor.accept("ADD", word):
            return add_subsources(cursor, name, if_exists=if_exists)
        if cursor.accept("DROP", word):
            return drop_subsources(cursor, name, if_exists=if_exists)
    if cursor.peek("SET") or cursor.peek("RESET") or cursor.peek("OWNER"):
        cursor.not_supported(f"ALTER SOURCE .. {cursor.token.key} is not supported yet")
    if not cursor.accept("REFRESH"):
        cursor.expected("one of REFRESH or RENAME")
    cursor.expect("REFERENCES")
    return RefreshReferences(name, if_exists)


def _generator(cursor: Cursor) -> str:
    if cursor.peek("MARKETING"):
        cursor.not_supported("LOAD GENERATOR MARKETING is not supported yet")
    for generator in GENERATORS:
        if cursor.accept(*generator.split()):
            return generator.lower()
    return cursor.expected("one of " + " or ".join(GENERATORS))


def _postgres_options(cursor: Cursor) -> tuple[Option, ...]:
    if not cursor.peek("("):
        return ()
    _refuse_internal(cursor)
    return options(cursor, {"PUBLICATION": "text", **COLUMN_OPTIONS})


def _refuse_internal(cursor: Cursor) -> None:
    """Name the first option that never was for users, or is of another kind of source."""
    index = cursor.index
    while cursor.tokens[index].key != ")" and cursor.tokens[index].kind != "end":
        for option in _REFUSED_OPTIONS:
            words = option.split()
            keys = [token.key for token in cursor.tokens[index + 1 : index + 1 + len(words)]]
            if cursor.tokens[index].key in ("(", ",") and keys == words:
                cursor.not_supported(f"{option} {_INSTEAD}", cursor.tokens[index + 1].start)
        index += 1
