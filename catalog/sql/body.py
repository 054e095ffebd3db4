"""Query bodies: handed to sqlglot's public parser, with positions in our own text.

What stands before a body is blanked and literals keep their width, so that an offset in
sqlglot's text is one in the statement's text. sqlglot's wording never leaves this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn, cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from catalog.sql.cursor import Cursor
from catalog.sql.lexer import Token
from catalog.sql.spacing import canonical
from catalog.sql.strings import literal

MAX_DEPTH = 128
_NOT_NEWLINE = re.compile(r"[^\n]")
_CLOSING = {"(": ")", "[": "]"}
_NO_QUERY = "Expected SELECT, VALUES, or a subquery in the query body"
_BEFORE_NAME = frozenset(("FROM", "JOIN", "AS", "WITH", "."))
_STATEMENTS = (exp.Command, exp.DDL, exp.DML)


@dataclass(frozen=True)
class Body:
    """A query or expression: its tree, its text as written, and its canonical text."""

    tree: exp.Expression
    text: str
    canonical: str

    @property
    def query(self) -> exp.Query:
        """The tree, known to be a query."""
        return cast(exp.Query, self.tree)


def take_query(cursor: Cursor, *stops: tuple[str, ...]) -> Body:
    """Take a query up to one of the word sequences at its own level, or to the end.

    `VALUES` comes back as `SELECT * FROM (VALUES ..)`. Raises SyntaxFailure.
    """
    _look_at_start(cursor)
    first = cursor.index
    body = _take(cursor, stops)
    if isinstance(body.tree, exp.Values):
        return Body(_select_from(body.tree), body.text, body.canonical)
    if not isinstance(body.tree, exp.Query) or body.tree.find(*_STATEMENTS):
        cursor.fail(_NO_QUERY, cursor.tokens[first].start)
    return body


def take_expression(cursor: Cursor, *stops: tuple[str, ...]) -> Body:
    """Take a scalar expression up to a comma, a closing bracket, a stop, or the end."""
    first = cursor.index
    body = _take(cursor, ((",",), *stops))
    if isinstance(body.tree, exp.Alias):
        cursor.index -= 2 if cursor.tokens[cursor.index - 2].key == "AS" else 1
        cursor.end()
    if not isinstance(body.tree, exp.Expression) or isinstance(body.tree, _STATEMENTS):
        cursor.fail("Expected an expression", cursor.tokens[first].start)
    return body


def _look_at_start(cursor: Cursor) -> None:
    if not cursor.peek("(") and cursor.token.key not in ("SELECT", "WITH", "VALUES", "TABLE"):
        cursor.expected("SELECT, VALUES, or a subquery in the query body")
    second = cursor.tokens[cursor.index + 1]
    if cursor.peek("VALUES") and second.key != "(":
        cursor.accept("VALUES")
        cursor.expect("(")
    if cursor.accept("TABLE"):
        cursor.identifier()
        cursor.index -= 2


def _select_from(values: exp.Values) -> exp.Select:
    rows = values.expressions
    width = len(rows[0].expressions) if rows and isinstance(rows[0], exp.Tuple) else 1
    order, limit, offset = (values.args.get(part) for part in ("order", "limit", "offset"))
    for part in ("order", "limit", "offset"):
        values.set(part, None)
    columns = [exp.to_identifier(f"column{n + 1}") for n in range(width)]
    alias = exp.TableAlias(this=exp.to_identifier("_values"), columns=columns)
    values.set("alias", alias)
    select = exp.select("*").from_(values)
    for part, value in (("order", order), ("limit", limit), ("offset", offset)):
        select.set(part, value)
    return select


def _take(cursor: Cursor, stops: tuple[tuple[str, ...], ...]) -> Body:
    tokens = cursor.tokens
    end = _extent(cursor, stops)
    taken = tokens[cursor.index : end]
    if not taken:
        cursor.expected("an expression")
    text = _padded(cursor, taken)
    try:
        tree = sqlglot.parse_one(text, read="materialize")
    except RecursionError:
        _too_deep(cursor, taken[0])
    except ParseError as error:
        _refuse(cursor, taken, text, error, end)
    except SqlglotError:
        cursor.fail(f'syntax error at or near "{_raw(cursor, taken[0])}"', taken[0].start)
    if "$" in text:
        tree = tree.transform(_plain_literal)
    cursor.index = end
    written = cursor.sql[taken[0].start : taken[-1].end]
    return Body(cast(exp.Expression, tree), written, canonical(taken))


def _plain_literal(node: exp.Expr) -> exp.Expr:
    """A dollar-quoted string that had to stay as written is a string like any other."""
    return exp.Literal.string(node.this) if isinstance(node, exp.RawString) else node


def _extent(cursor: Cursor, stops: tuple[tuple[str, ...], ...]) -> int:
    """Index of the token after the body. Raises SyntaxFailure for brackets that do not pair."""
    expected: list[str] = []
    heads = {stop[0] for stop in stops}
    index = cursor.index
    while cursor.tokens[index].kind != "end":
        token = cursor.tokens[index]
        if not expected and (token.key in (")", "]") or _stops(cursor, index, heads, stops)):
            return index
        _bracket(cursor, token, cursor.tokens[index + 1], expected)
        index += 1
    if expected:
        cursor.index = index
        cursor.expected("right parenthesis" if expected[-1] == ")" else "right square bracket")
    return index


def _bracket(cursor: Cursor, token: Token, after: Token, expected: list[str]) -> None:
    """Keep the closing brackets that are still due; refuse what sqlglot would let pass."""
    if token.key in _CLOSING:
        expected.append(_CLOSING[token.key])
        if len(expected) > MAX_DEPTH:
            _too_deep(cursor, token)
    elif token.key in (")", "]") and expected.pop() != token.key:
        cursor.fail(f'syntax error at or near "{token.key}"', token.start)
    elif token.key == "." and after.key == ".":
        cursor.fail("Expected identifier, found dot", after.start)


def _stops(
    cursor: Cursor, index: int, heads: set[str], stops: tuple[tuple[str, ...], ...]
) -> bool:
    if cursor.tokens[index].key not in heads:
        return False
    following = [token.key for token in cursor.tokens[index : index + 3]]
    return any(tuple(following[: len(stop)]) == stop for stop in stops)


def _padded(cursor: Cursor, taken: list[Token]) -> str:
    """The statement's text up to the body's end, of the same length, fit for sqlglot."""
    sql, position = cursor.sql, taken[0].start
    pieces = [_NOT_NEWLINE.sub(" ", sql[cursor.start : position])]
    for token in taken:
        if token.start > position:
            pieces.append(_NOT_NEWLINE.sub(" ", sql[position : token.start]))
        pieces.append(_same_width(sql, token))
        position = token.end
    return "".join(pieces)


def _same_width(sql: str, token: Token) -> str:
    raw = sql[token.start : token.end]
    if token.kind != "string":
        return raw
    plain = literal(token.text)
    return plain.ljust(len(raw)) if len(plain) <= len(raw) else raw


def _refuse(
    cursor: Cursor, taken: list[Token], text: str, error: ParseError, end: int
) -> NoReturn:
    """Say where sqlglot stopped: at a token, or at the end when something is missing there."""
    offset = cursor.start + _offset(text, error.errors)
    near = next((token for token in taken if token.end >= offset), taken[-1])
    missing = len(taken) == 1 or "missing" in str(error) or "SENTINEL" in str(error)
    if near is taken[-1] and missing:
        cursor.index = end
        cursor.expected("identifier" if near.key in _BEFORE_NAME else "an expression")
    cursor.fail(f'syntax error at or near "{_raw(cursor, near)}"', near.start)


def _offset(text: str, errors: list[dict[str, object]]) -> int:
    """The offset in the text just after the token that sqlglot complains about."""
    line, column = (errors[0].get(part) if errors else None for part in ("line", "col"))
    if not isinstance(line, int) or not isinstance(column, int):
        return len(text)
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + column


def _raw(cursor: Cursor, token: Token) -> str:
    return cursor.sql[token.start : token.end]


def _too_deep(cursor: Cursor, token: Token) -> NoReturn:
    cursor.fail("statement is nested too deeply", token.start)
