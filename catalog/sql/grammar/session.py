"""Transactions and session variables."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.nodes.session import (
    AlterSystem,
    Discard,
    Savepoint,
    SetVariable,
    TransactionControl,
)
from catalog.sql.strings import identifier

_ISOLATION = (
    "READ UNCOMMITTED",
    "READ COMMITTED",
    "REPEATABLE READ",
    "SERIALIZABLE",
    "STRONG SESSION SERIALIZABLE",
    "STRICT SERIALIZABLE",
)


def variable(cursor: Cursor) -> str:
    """Take a variable's name, `TIME ZONE` and `TRANSACTION ISOLATION LEVEL` included."""
    if cursor.accept("TRANSACTION", "ISOLATION", "LEVEL"):
        return "transaction_isolation"
    if cursor.accept("TIME", "ZONE"):
        return "timezone"
    parts = [cursor.identifier()]
    while cursor.accept("."):
        parts.append(cursor.identifier())
    return ".".join(parts)


def begin(cursor: Cursor) -> TransactionControl:
    """After `BEGIN` or `START TRANSACTION`."""
    cursor.accept_one_of("WORK", "TRANSACTION")
    isolation, read_only = _modes(cursor)
    return TransactionControl("begin", isolation, read_only)


def commit(cursor: Cursor) -> TransactionControl:
    """After `COMMIT` or `END`."""
    _chain(cursor)
    return TransactionControl("commit")


def rollback(cursor: Cursor) -> TransactionControl | Savepoint:
    """After `ROLLBACK` or `ABORT`."""
    _chain(cursor)
    if cursor.accept("TO"):
        cursor.accept("SAVEPOINT")
        return Savepoint("rollback to", cursor.identifier())
    return TransactionControl("rollback")


def savepoint(cursor: Cursor) -> Savepoint:
    """After `SAVEPOINT`."""
    return Savepoint("savepoint", cursor.identifier())


def release(cursor: Cursor) -> Savepoint:
    """After `RELEASE`."""
    cursor.accept("SAVEPOINT")
    return Savepoint("release", cursor.identifier())


def set_variable(cursor: Cursor) -> SetVariable:
    """After `SET`."""
    if cursor.accept("SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"):
        return _isolation(cursor)
    if cursor.accept("TRANSACTION"):
        return _isolation(cursor, local=True)
    local = cursor.accept_one_of("SESSION", "LOCAL") == "LOCAL"
    if cursor.accept("TIME", "ZONE"):
        word = cursor.accept_one_of("DEFAULT", "LOCAL")
        return SetVariable("timezone", None if word else _value(cursor), local)
    for word, name in (("SCHEMA", "search_path"), ("NAMES", "client_encoding")):
        if cursor.peek(word) and cursor.tokens[cursor.index + 1].kind == "string":
            cursor.accept(word)
            return SetVariable(name, cursor.string(), local)
    name = variable(cursor)
    return SetVariable(name, _assigned(cursor), local)


def reset(cursor: Cursor) -> SetVariable:
    """After `RESET`; `RESET ALL` has the name `all`."""
    return SetVariable("all" if cursor.accept("ALL") else variable(cursor), None)


def discard(cursor: Cursor) -> Discard:
    """After `DISCARD`."""
    if cursor.token.key in ("PLANS", "SEQUENCES"):
        cursor.not_supported(f"DISCARD {cursor.token.key} statements are not supported yet")
    word = cursor.one_of("ALL", "TEMP", "TEMPORARY")
    return Discard("all" if word == "ALL" else "temp")


def alter_system(cursor: Cursor) -> AlterSystem:
    """After `ALTER SYSTEM`."""
    if cursor.one_of("SET", "RESET") == "RESET":
        return AlterSystem("all" if cursor.accept("ALL") else variable(cursor), None)
    name = variable(cursor)
    return AlterSystem(name, _assigned(cursor))


def _assigned(cursor: Cursor) -> str | None:
    if not (cursor.accept("=") or cursor.accept("TO")):
        cursor.expected("equals sign or TO")
    if cursor.accept("DEFAULT"):
        return None
    values = cursor.listed(lambda: _value(cursor))
    return values[0] if len(values) == 1 else ", ".join(identifier(value) for value in values)


def _value(cursor: Cursor) -> str:
    token = cursor.token
    if token.kind == "string":
        return cursor.string()
    sign = cursor.accept_one_of("-", "+")
    if cursor.token.kind == "number":
        cursor.index += 1
        return ("-" if sign == "-" else "") + cursor.tokens[cursor.index - 1].text
    if not sign and cursor.token.key in ("TRUE", "FALSE", "ON"):
        cursor.index += 1
        return token.text
    if sign or not cursor.at_identifier():
        cursor.expected("variable value")
    return cursor.identifier()


def _chain(cursor: Cursor) -> None:
    cursor.accept_one_of("WORK", "TRANSACTION")
    if cursor.accept("AND"):
        if cursor.peek("CHAIN"):
            cursor.not_supported("AND CHAIN is not supported")
        cursor.expect("NO", "CHAIN")


def _modes(cursor: Cursor) -> tuple[str | None, bool | None]:
    isolation: str | None = None
    read_only: bool | None = None
    while cursor.token.key in ("ISOLATION", "READ"):
        if cursor.accept("ISOLATION", "LEVEL"):
            isolation = _level(cursor)
        else:
            cursor.expect("READ")
            read_only = cursor.one_of("ONLY", "WRITE") == "ONLY"
        if cursor.accept(",") and cursor.token.key not in ("ISOLATION", "READ"):
            cursor.expected("one of ISOLATION or READ")
    return isolation, read_only


def _level(cursor: Cursor) -> str:
    for level in _ISOLATION:
        if cursor.accept(*level.split()):
            return level.lower()
    return cursor.expected("isolation level")


def _isolation(cursor: Cursor, *, local: bool = False) -> SetVariable:
    start = cursor.token.start
    isolation, read_only = _modes(cursor)
    if read_only is not None:
        cursor.not_supported("transaction access mode is not supported here", start)
    if isolation is None:
        cursor.expected("ISOLATION")
    return SetVariable("transaction_isolation", isolation, local)
