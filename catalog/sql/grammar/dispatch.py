"""Which grammar reads a statement: by its first words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.comment import comment_on
from catalog.sql.grammar.connection import create_connection, validate_connection
from catalog.sql.grammar.cursors import close, declare, fetch
from catalog.sql.grammar.item import OTHER_KINDS, alter, create_database, create_schema, drop
from catalog.sql.grammar.legacy import create_subsource
from catalog.sql.grammar.materialized_view import (
    create_materialized_view,
    create_or_replace_materialized_view,
)
from catalog.sql.grammar.query import explain, select
from catalog.sql.grammar.replacement import create_replacement
from catalog.sql.grammar.rows import delete, insert, update
from catalog.sql.grammar.secret import create_secret
from catalog.sql.grammar.session import (
    alter_system,
    begin,
    commit,
    discard,
    release,
    reset,
    rollback,
    savepoint,
    set_variable,
)
from catalog.sql.grammar.show import show
from catalog.sql.grammar.source import create_source
from catalog.sql.grammar.subscribe import subscribe
from catalog.sql.grammar.table import create_table, create_temporary_table
from catalog.sql.grammar.view import create_or_replace_view, create_view
from catalog.sql.nodes.statement import Statement

Grammar = Callable[[Cursor], Statement]

_GRAMMARS: dict[str, Grammar] = {
    "CREATE SECRET": create_secret,
    "CREATE CONNECTION": create_connection,
    "CREATE SOURCE": create_source,
    "CREATE SUBSOURCE": create_subsource,
    "CREATE TABLE": create_table,
    "CREATE TEMP TABLE": create_temporary_table,
    "CREATE TEMPORARY TABLE": create_temporary_table,
    "CREATE VIEW": create_view,
    "CREATE OR REPLACE VIEW": create_or_replace_view,
    "CREATE MATERIALIZED VIEW": create_materialized_view,
    "CREATE OR REPLACE MATERIALIZED VIEW": create_or_replace_materialized_view,
    "CREATE REPLACEMENT": create_replacement,
    "CREATE SCHEMA": create_schema,
    "CREATE DATABASE": create_database,
    "COMMENT ON": comment_on,
    "VALIDATE CONNECTION": validate_connection,
    "DROP": drop,
    "ALTER SYSTEM": alter_system,
    "ALTER": alter,
    "INSERT": insert,
    "UPDATE": update,
    "DELETE": delete,
    "SHOW": show,
    "EXPLAIN": explain,
    "SUBSCRIBE": subscribe,
    "TAIL": subscribe,
    "DECLARE": declare,
    "FETCH": fetch,
    "CLOSE": close,
    "BEGIN": begin,
    "START TRANSACTION": begin,
    "COMMIT": commit,
    "END": commit,
    "ROLLBACK": rollback,
    "ABORT": rollback,
    "SAVEPOINT": savepoint,
    "RELEASE": release,
    "SET": set_variable,
    "RESET": reset,
    "DISCARD": discard,
}
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE", "(")
_NOT_YET = (
    *(f"CREATE {kind}" for kind in OTHER_KINDS if kind != "SUBSOURCE"),
    "CREATE TEMP VIEW",
    "CREATE TEMPORARY VIEW",
    "CREATE OR REPLACE TEMP VIEW",
    "CREATE OR REPLACE TEMPORARY VIEW",
    "CREATE OR REPLACE SOURCE",
    "CREATE OR REPLACE SINK",
    "CREATE DEFAULT INDEX",
    "CREATE UNIQUE INDEX",
    "COPY",
    "PREPARE",
    "EXECUTE",
    "DEALLOCATE",
    "GRANT",
    "REVOKE",
    "REASSIGN OWNED",
    "TRUNCATE",
    "VACUUM",
    "ANALYZE",
    "MERGE",
    "CALL",
    "DO",
    "LOCK",
    "LISTEN",
    "NOTIFY",
    "RAISE",
    "INSPECT",
)


def statement(cursor: Cursor) -> Statement:
    """Take one statement. Raises SyntaxFailure or NotSupported."""
    first = cursor.token.key
    if first in _QUERIES:
        return select(cursor)
    for words, grammar in _BY_FIRST_WORD.get(first, ()):
        if cursor.accept(*words):
            return grammar(cursor)
    for words in _REFUSED_BY_FIRST_WORD.get(first, ()):
        if cursor.peek(*words):
            cursor.not_supported(f"{' '.join(words)} statements are not supported yet")
    return _unknown(cursor)


def _unknown(cursor: Cursor) -> NoReturn:
    """Name the words that could stand where the statement stops making sense."""
    phrases = [words for words, _ in _BY_FIRST_WORD.get(cursor.token.key, ())]
    if not phrases:
        cursor.expected("a keyword at the beginning of a statement")
    taken = 0
    while phrases:
        possible, taken = phrases, taken + 1
        key = cursor.token.key
        cursor.index += 1
        phrases = [words for words in possible if words[taken - 1] == key and words[taken:]]
    cursor.index -= 1
    cursor.one_of(*dict.fromkeys(words[taken - 1] for words in possible))
    cursor.expected("end of statement")


def _by_first_word() -> dict[str, list[tuple[tuple[str, ...], Grammar]]]:
    table: dict[str, list[tuple[tuple[str, ...], Grammar]]] = {}
    for phrase, grammar in _GRAMMARS.items():
        words = tuple(phrase.split())
        table.setdefault(words[0], []).append((words, grammar))
    return table


def _refused_by_first_word() -> dict[str, list[tuple[str, ...]]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in _NOT_YET:
        words = tuple(phrase.split())
        table.setdefault(words[0], []).append(words)
    return table


_BY_FIRST_WORD = _by_first_word()
_REFUSED_BY_FIRST_WORD = _refused_by_first_word()
