"""CREATE TABLE, plain and FROM SOURCE."""

from __future__ import annotations

from itertools import pairwise

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.columns import column_definition, primary_key
from catalog.sql.grammar.webhook import create_webhook
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.table import ColumnDefinition, CreateTable, CreateTableFromSource
from catalog.sql.nodes.webhook import CreateWebhook

_UNSUPPORTED_CLAUSES = ("FORMAT", "KEY", "VALUE", "INCLUDE", "ENVELOPE", "EXCLUDE")


def create_table(cursor: Cursor) -> CreateTable | CreateTableFromSource | CreateWebhook:
    """After `CREATE TABLE`."""
    if_not_exists, name = cursor.if_not_exists(), cursor.name()
    if cursor.accept("FROM", "WEBHOOK"):
        return create_webhook(cursor, "table", name, if_not_exists=if_not_exists)
    after = cursor.tokens[_after_parentheses(cursor)].key
    if after == "FROM":
        return _from_source(cursor, name, if_not_exists=if_not_exists)
    if after == "AS":
        cursor.not_supported("CREATE TABLE .. AS statements are not supported yet")
    if not cursor.peek("("):
        cursor.expected("a list of columns in parentheses")
    return _plain(cursor, name, if_not_exists=if_not_exists)


def create_temporary_table(cursor: Cursor) -> CreateTable:
    """After `CREATE TEMPORARY TABLE`: always refused, with the reason that fits."""
    keys = [token.key for token in cursor.tokens]
    if any(pair == ("FROM", "SOURCE") for pair in pairwise(keys)):
        message = "temporary tables FROM SOURCE are not supported"
    else:
        message = "CREATE TEMPORARY TABLE statements are not supported yet"
    cursor.not_supported(message, cursor.tokens[1].start)


def _after_parentheses(cursor: Cursor) -> int:
    """Index of the token after the parenthesized list that comes next, or of the next token."""
    depth, index = 0, cursor.index
    while cursor.tokens[index].kind != "end":
        key = cursor.tokens[index].key
        depth += (key == "(") - (key == ")")
        if depth <= 0:
            return index + 1 if key == ")" else index
        index += 1
    return index


def _from_source(cursor: Cursor, name: Name, *, if_not_exists: bool) -> CreateTableFromSource:
    columns = cursor.parenthesized(lambda: _column_name(cursor)) if cursor.peek("(") else ()
    cursor.expect("FROM")
    cursor.expect("SOURCE")
    source, reference = cursor.name(), None
    if cursor.accept("("):
        cursor.expect("REFERENCE")
        cursor.accept("=")
        reference = cursor.name()
        cursor.expect(")")
    if cursor.token.key in _UNSUPPORTED_CLAUSES:
        cursor.not_supported(f"{cursor.token.key} is not supported for this kind of source")
    lists = _with_lists(cursor) if cursor.accept("WITH") else {}
    return CreateTableFromSource(
        name,
        source,
        reference,
        columns,
        lists.get("TEXT", ()),
        lists.get("EXCLUDE", ()),
        if_not_exists,
    )


def _column_name(cursor: Cursor) -> str:
    name = cursor.identifier()
    if cursor.token.kind == "word" and not cursor.peek("FROM"):
        cursor.not_supported("column types in CREATE TABLE .. FROM SOURCE are not supported")
    return name


def _with_lists(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    lists: dict[str, tuple[str, ...]] = {}
    cursor.expect("(")
    while True:
        at = cursor.token.start
        if cursor.peek("PARTITION", "BY"):
            cursor.not_supported("PARTITION BY is not supported yet")
        word = cursor.one_of("TEXT", "EXCLUDE")
        if word == "EXCLUDE" and (cursor.peek("CONSTRAINTS") or cursor.peek("ALL")):
            cursor.not_supported("EXCLUDE CONSTRAINTS is not supported yet", at)
        cursor.expect("COLUMNS")
        if word in lists:
            cursor.fail(f"{word} COLUMNS specified more than once", at)
        lists[word] = _names(cursor)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return lists


def _names(cursor: Cursor) -> tuple[str, ...]:
    """`[=] (a, ..)` or `[=] [a, ..]`; the list may be empty."""
    cursor.accept("=")
    close = "]" if cursor.accept("[") else ")"
    if close == ")":
        cursor.expect("(")
    if cursor.accept(close):
        return ()
    names = cursor.listed(cursor.identifier)
    cursor.expect(close)
    return names


def _plain(cursor: Cursor, name: Name, *, if_not_exists: bool) -> CreateTable:
    columns: list[ColumnDefinition] = []
    key: tuple[str, ...] = ()
    cursor.expect("(")
    if cursor.accept(")"):
        return CreateTable(name, (), if_not_exists)
    while True:
        at = cursor.token.start
        found = primary_key(cursor)
        if found and key:
            cursor.fail(f"multiple primary keys for table {name.last} are not allowed", at)
        if found:
            key = found
        else:
            columns.append(column_definition(cursor))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    if cursor.peek("WITH"):
        cursor.not_supported("CREATE TABLE .. WITH options are not supported")
    return CreateTable(name, tuple(columns), if_not_exists, key)
