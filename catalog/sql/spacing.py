"""The canonical text of a query body: its tokens, one way to space them, comments left out."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.sql.keywords import QUERY_WORDS
from catalog.sql.lexer import Token
from catalog.sql.strings import literal

_TIGHT_BEFORE = frozenset((",", ")", "]", "::"))
_TIGHT_AFTER = frozenset(("(", "[", "::"))
_SIGNS = frozenset("+-")
_OPERANDS = frozenset(("quoted", "string", "bits", "number", "param"))


def canonical(tokens: Sequence[Token]) -> str:
    """The tokens as one line that reads back as the same tokens."""
    pieces: list[str] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        if before is not None and not _touch(tokens, index):
            pieces.append(" ")
        pieces.append(_text(token, before))
    return "".join(pieces)


def _text(token: Token, before: Token | None) -> str:
    if token.kind == "string":
        return literal(token.text)
    if token.kind == "quoted":
        return '"' + token.text.replace('"', '""') + '"'
    if token.kind == "word" and token.text in QUERY_WORDS:
        return token.text if before is not None and before.key == "." else token.key
    return token.text


def _touch(tokens: Sequence[Token], index: int) -> bool:
    before, token = tokens[index - 1], tokens[index]
    if before.key == "." or token.key == ".":
        return _touch_dot(before, token)
    if token.key == "(" or token.key == "[":
        return before.key in _TIGHT_AFTER or _is_operand(before) or before.key in (")", "]")
    if token.key in _TIGHT_BEFORE or before.key in _TIGHT_AFTER:
        return True
    return before.key in _SIGNS and token.kind != "operator" and _is_prefix(tokens, index - 1)


def _touch_dot(before: Token, token: Token) -> bool:
    return before.kind != "number" and token.kind != "number"


def _is_operand(token: Token) -> bool:
    return token.kind in _OPERANDS or (token.kind == "word" and token.text not in QUERY_WORDS)


def _is_prefix(tokens: Sequence[Token], index: int) -> bool:
    """Whether the sign at `index` stands before its only operand, as in `-1`."""
    if index == 0:
        return True
    before = tokens[index - 1]
    return not (_is_operand(before) or before.key in (")", "]"))
