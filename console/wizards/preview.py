"""What a definition that is being typed would make: columns, how it is kept, or what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from catalog.errors import InvalidStatement
from catalog.foresight import Expected, expected
from catalog.results import Notice, Rows
from catalog.sql import parse_one, render, render_pretty
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.statement import Statement
from console import execute
from console.errors import place
from ingest.contract.relation import Relation
from ingest.errors import HeadraceError

PREVIEW_ROWS = 20


@dataclass(frozen=True)
class Wrong:
    """An error as the page shows it; `at` is the offset in the typed text, -1 unknown."""

    error: HeadraceError
    at: int = -1
    line: int = 0
    column: int = 0
    excerpt: str = ""
    field: str = ""


@dataclass(frozen=True)
class Foreseen:
    """What would be made; with `wrong` nothing can be."""

    relation: Relation | None = None
    kept: Expected | None = None
    sql: str = ""
    notices: tuple[Notice, ...] = ()
    wrong: Wrong | None = None


Build = Callable[[Select, str], Statement]
"""The statement that is run, from the query and its text."""


def query_in(text: str) -> Select:
    """The one SELECT that the text is; raises StatementError with its position."""
    stripped = text.strip()
    if not stripped:
        raise InvalidStatement("write a query first", sqlstate="42601")
    parsed = parse_one(text)
    statement = parsed.statement
    if not isinstance(statement, Select):
        raise InvalidStatement("a view needs a SELECT", sqlstate="42601", position=_first(text))
    if statement.as_of is not None:
        message = "a view needs a SELECT without AS OF"
        raise InvalidStatement(message, sqlstate="42601", position=_first(text))
    return statement


def _first(text: str) -> int:
    return len(text) - len(text.lstrip())


def foresee(user: Any, text: str, build: Build) -> Foreseen:
    """Look at the query, then try the statement in a transaction that is rolled back."""
    relation: Relation | None = None
    kept: Expected | None = None
    try:
        select = query_in(text)
        session = execute.open_session(user)
        relation = session.describe(text).relation
        kept = _kept(select.query, user, session.region)
        statement = build(select, text)
        notices = _tried(session, statement)
    except HeadraceError as error:
        return Foreseen(relation, kept, wrong=wrong(error, text, in_text=relation is None))
    return Foreseen(relation, kept, f"{render_pretty(statement)}", notices)


def _kept(query: exp.Query, user: Any, region: str) -> Expected | None:
    """How it would be kept; None where planning it will say why it cannot be."""
    try:
        return expected(query, user.email, region)
    except HeadraceError:
        return None


def _tried(session: execute.UserSession, statement: Statement) -> tuple[Notice, ...]:
    notices: list[Notice] = []
    try:
        for result in session.execute(f"BEGIN; {render(statement)}"):
            notices += result.notices
    finally:
        list(session.execute("ROLLBACK"))
    return tuple(notices)


def wrong(error: HeadraceError, text: str, *, in_text: bool) -> Wrong:
    """The error with its place; positions count only where they are the typed text's."""
    position = error.position if in_text else None
    if position is None or not 0 <= position <= len(text):
        field = "name" if error.sqlstate in {"42710", "42602", "42P07"} else ""
        return Wrong(error, field=field)
    line, column = place(text, position)
    shown = text.splitlines()[line - 1] if line <= len(text.splitlines()) else ""
    label = f"LINE {line}: "
    excerpt = f"{label}{shown}\n{' ' * (len(label) + column - 1)}^"
    return Wrong(error, position, line, column, excerpt)


def first_rows(user: Any, text: str) -> Rows:
    """The query's first rows. Raises HeadraceError."""
    limited = exp.select("*").from_(query_in(text).query.copy().subquery("preview"))
    limited = limited.limit(PREVIEW_ROWS)
    statement = Select(limited, body=limited.sql(dialect="materialize"))
    for outcome in execute.run(user, render(statement)):
        if isinstance(outcome, HeadraceError):
            raise outcome
        if isinstance(outcome, Rows):
            return outcome
    raise InvalidStatement("the query gave no rows")
