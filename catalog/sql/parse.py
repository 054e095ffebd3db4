"""Text to statements: the one way in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.errors import StatementError, SyntaxFailure
from catalog.sql.cursor import Cursor
from catalog.sql.grammar.dispatch import statement
from catalog.sql.lexer import Token, statements
from catalog.sql.nodes.statement import Statement


@dataclass(frozen=True)
class Parsed:
    """One statement: its node, its own text, and where that text starts in the input.

    Offsets in the node (`at`) count from the start of `text`.
    """

    statement: Statement
    text: str
    start: int


def parse(sql: str) -> tuple[Parsed, ...]:
    """All statements of the input, separated by semicolons.

    Raises SyntaxFailure, or NotSupported for what is understood but not done here; both carry a
    position in `sql`.
    """
    return tuple(parse_each(sql))


def parse_each(sql: str) -> Iterator[Parsed]:
    """Like `parse`, but each statement comes before the next one is looked at."""
    for outcome in parse_each_or_error(sql):
        if isinstance(outcome, StatementError):
            raise outcome
        yield outcome


def parse_each_or_error(sql: str) -> Iterator[Parsed | StatementError]:
    """Each statement, or what is wrong with it; after a lexical error nothing can follow."""
    separated = statements(sql)
    while True:
        try:
            tokens = next(separated, None)
            if tokens is None:
                return
            yield _parsed(sql, tokens)
        except StatementError as error:
            yield error


def _parsed(sql: str, tokens: list[Token]) -> Parsed:
    cursor = Cursor(sql, tokens)
    node = statement(cursor)
    cursor.end()
    return Parsed(node, sql[cursor.start : tokens[-2].end], cursor.start)


def parse_one(sql: str) -> Parsed:
    """The only statement of the input. Raises SyntaxFailure when there is none or another."""
    found = parse(sql)
    if not found:
        raise SyntaxFailure("Expected a statement, found EOF", sql, len(sql))
    if len(found) > 1:
        raise SyntaxFailure("Expected one statement", sql, found[1].start)
    return found[0]
