"""Expressions of a webhook's CHECK: PostgreSQL's operators by precedence, calls and casts."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.columns import column_type
from catalog.sql.nodes.webhook import Call, Cast, Expression, Input, Value

_DEEPEST = 64
_COMPARISONS = ("=", "<>", "!=", "<", ">", "<=", ">=")
_BINARY: dict[str, int] = {
    "OR": 1,
    "AND": 2,
    "IS": 4,
    **dict.fromkeys(_COMPARISONS, 5),
    **dict.fromkeys(("LIKE", "ILIKE", "IN", "NOT", "BETWEEN"), 6),
    **dict.fromkeys(("||", "->", "->>", "~", "~*", "!~", "?"), 7),
    "+": 8,
    "-": 8,
    **dict.fromkeys(("*", "/", "%"), 9),
    "::": 11,
}
_NOT, _SIGN, _OPERAND = 3, 10, 7
_SAME = {"!=": "<>"}


def expression(cursor: Cursor, depth: int = 0) -> Expression:
    """Take one expression. Raises SyntaxFailure."""
    return _climb(cursor, 1, depth)


def _climb(cursor: Cursor, lowest: int, depth: int) -> Expression:
    if depth > _DEEPEST:
        cursor.fail("the expression is nested too deeply")
    left = _prefix(cursor, depth + 1)
    while (power := _BINARY.get(cursor.token.key, 0)) >= lowest:
        left = _infix(cursor, left, power, depth + 1)
    return left


def _prefix(cursor: Cursor, depth: int) -> Expression:
    at = cursor.at()
    if cursor.accept("NOT"):
        return Call("not", (_climb(cursor, _NOT, depth),), at)
    if cursor.accept("-"):
        return Call("negate", (_climb(cursor, _SIGN, depth),), at)
    return _primary(cursor, depth)


def _infix(cursor: Cursor, left: Expression, power: int, depth: int) -> Expression:
    at, sign = cursor.at(), cursor.token.key
    cursor.index += 1
    if sign == "::":
        return Cast(left, column_type(cursor).sql, at)
    if sign == "IS":
        return _is(cursor, left, at)
    if power == _BINARY["IN"]:
        return _predicate(cursor, left, sign, at, depth)
    right = _climb(cursor, power + 1, depth)
    return Call(_SAME.get(sign, sign.lower()), (left, right), at)


def _is(cursor: Cursor, left: Expression, at: int) -> Expression:
    negated = cursor.accept("NOT")
    word = cursor.one_of("NULL", "TRUE", "FALSE")
    found: Expression = Call(f"is {word.lower()}", (left,), at)
    return Call("not", (found,), at) if negated else found


def _predicate(cursor: Cursor, left: Expression, sign: str, at: int, depth: int) -> Expression:
    negated = sign == "NOT"
    word = cursor.one_of("LIKE", "ILIKE", "IN", "BETWEEN") if negated else sign
    if word == "IN":
        every = cursor.parenthesized(lambda: expression(cursor, depth))
        found = Call("in", (left, *every), at)
    elif word == "BETWEEN":
        low = _climb(cursor, _OPERAND, depth)
        cursor.expect("AND")
        found = Call("between", (left, low, _climb(cursor, _OPERAND, depth)), at)
    else:
        found = Call(word.lower(), (left, _climb(cursor, _OPERAND, depth)), at)
    return Call("not", (found,), at) if negated else found


def _primary(cursor: Cursor, depth: int) -> Expression:
    at, token = cursor.at(), cursor.token
    if cursor.accept("("):
        inner = expression(cursor, depth)
        cursor.expect(")")
        return inner
    if token.kind == "string":
        return Value(cursor.string(), "text", at)
    if token.kind == "number":
        cursor.index += 1
        return Value(token.text, "number", at)
    if token.kind == "word":
        return _word(cursor, depth)
    if not cursor.at_identifier():
        cursor.expected("an expression")
    return Input(cursor.identifier(), at)


def _word(cursor: Cursor, depth: int) -> Expression:
    at, key = cursor.at(), cursor.token.key
    if key in ("TRUE", "FALSE"):
        cursor.index += 1
        return Value(key == "TRUE", "boolean", at)
    if cursor.accept("NULL"):
        return Value(None, "null", at)
    if key == "INTERVAL" and cursor.tokens[cursor.index + 1].kind == "string":
        cursor.index += 1
        return Value(cursor.string(), "interval", at)
    if cursor.accept("CURRENT_TIMESTAMP"):
        return Call("now", (), at)
    if cursor.tokens[cursor.index + 1].key == "(":
        return _call(cursor, depth)
    return Input(cursor.identifier("an expression"), at)


def _call(cursor: Cursor, depth: int) -> Expression:
    at, name = cursor.at(), cursor.token.text
    cursor.index += 1
    cursor.expect("(")
    if cursor.accept(")"):
        return Call(name, (), at)
    if name == "cast":
        inner = expression(cursor, depth)
        cursor.expect("AS")
        made: Expression = Cast(inner, column_type(cursor).sql, at)
    elif name == "extract":
        part = Value(cursor.identifier(), "text", cursor.at())
        cursor.expect("FROM")
        made = Call("date_part", (part, expression(cursor, depth)), at)
    else:
        made = Call(name, cursor.listed(lambda: expression(cursor, depth)), at)
    cursor.expect(")")
    return made
