"""A cursor over one statement's tokens: what a recursive-descent grammar needs, and its errors.

Messages follow the field: `Expected one of POSTGRES or KAFKA, found identifier "rabbit"`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from catalog.errors import NotSupported, SyntaxFailure
from catalog.sql.keywords import KEYWORDS, RESERVED
from catalog.sql.lexer import Token
from catalog.sql.nodes.names import Name

_PUNCTUATION = {
    "(": "left parenthesis",
    ")": "right parenthesis",
    "[": "left square bracket",
    "]": "right square bracket",
    ",": "comma",
    ".": "dot",
    ":": "colon",
    "=": "equals sign",
}
_KINDS = {
    "string": "string literal",
    "bits": "bit string literal",
    "number": "number",
    "quoted": "identifier",
    "word": "identifier",
    "param": "parameter",
}
MAX_NAME_BYTES = 255
MAX_NAME_PARTS = 3

Item = TypeVar("Item")


class Cursor:
    """Stands before one token of a statement; `tokens` ends with one of kind `end`."""

    def __init__(self, sql: str, tokens: list[Token]) -> None:
        self.sql = sql
        self.tokens = tokens
        self.index = 0
        self.start = tokens[0].start

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.index]

    def at(self, token: Token | None = None) -> int:
        """Offset of the token, by default the next one, in the statement's own text."""
        return (token or self.tokens[self.index]).start - self.start

    def peek(self, *words: str) -> bool:
        """Whether all of these keywords or signs come next."""
        tokens, index = self.tokens, self.index
        if index + len(words) > len(tokens):
            return False
        return all(tokens[index + n].key == word for n, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        """Take all of these keywords or signs, or nothing."""
        found = self.peek(*words)
        if found:
            self.index += len(words)
        return found

    def expect(self, *words: str) -> None:
        """Take all of these keywords or signs; raises SyntaxFailure at the first other token."""
        for word in words:
            if not self.accept(word):
                self.expected(_PUNCTUATION.get(word, word))

    def accept_one_of(self, *words: str) -> str | None:
        """Take one of these keywords, if one comes next."""
        key = self.token.key
        if key in words:
            self.index += 1
            return key
        return None

    def one_of(self, *words: str) -> str:
        """Take one of these keywords; raises SyntaxFailure naming them all."""
        word = self.accept_one_of(*words)
        if word is None:
            several = "one of " if len(words) > 1 else ""
            self.expected(several + " or ".join(words))
        return word

    def at_end(self) -> bool:
        """Whether nothing is left of the statement."""
        return self.token.kind == "end"

    def end(self) -> None:
        """Raises SyntaxFailure unless nothing is left."""
        if not self.at_end():
            self.expected("end of statement")

    def at_identifier(self) -> bool:
        """Whether a name comes next."""
        token = self.token
        return token.kind == "quoted" or (token.kind == "word" and token.text not in RESERVED)

    def identifier(self, what: str = "identifier") -> str:
        """Take one part of a name. Raises SyntaxFailure when it is reserved or over 255 bytes."""
        token = self.token
        if not self.at_identifier():
            self.expected(what)
        if len(token.text) * 4 > MAX_NAME_BYTES:
            self._check_length(token)
        self.index += 1
        return token.text

    def name(self) -> Name:
        """Take a name of one to three parts."""
        first, at = self.token, self.at()
        parts = [self.identifier()]
        while self.accept("."):
            parts.append(self.identifier())
        if len(parts) > MAX_NAME_PARTS:
            text = ".".join(parts)
            self.fail(
                f"qualified name did not have between 1 and 3 components: {text}", first.start
            )
        return Name(tuple(parts), at)

    def string(self) -> str:
        """Take a string literal."""
        if self.token.kind != "string":
            self.expected("literal string")
        self.index += 1
        return self.tokens[self.index - 1].text

    def listed(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Take one or more items with commas between."""
        items = [item()]
        while self.accept(","):
            items.append(item())
        return tuple(items)

    def parenthesized(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Take one or more items in parentheses."""
        self.expect("(")
        items = self.listed(item)
        self.expect(")")
        return items

    def if_not_exists(self) -> bool:
        """Take `IF NOT EXISTS`, if it comes next; a name may not be `if` before NOT."""
        if not self.accept("IF", "NOT"):
            return False
        self.expect("EXISTS")
        return True

    def if_exists(self) -> bool:
        """Take `IF EXISTS`, if it comes next."""
        return self.accept("IF", "EXISTS")

    def expected(self, what: str) -> NoReturn:
        """Raise `Expected .., found ..` at the next token."""
        self.fail(f"Expected {what}, found {self._found()}")

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise a SyntaxFailure, by default at the next token; `offset` counts in the input."""
        raise SyntaxFailure(message, self.sql, self.token.start if offset is None else offset)

    def not_supported(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise a NotSupported, by default at the next token; `offset` counts in the input."""
        raise NotSupported(message, position=self.token.start if offset is None else offset)

    def _found(self) -> str:
        token = self.token
        if token.kind == "end":
            return token.text
        if token.kind == "word" and token.text in KEYWORDS:
            return token.key
        if token.key in _PUNCTUATION and token.key != "=":
            return _PUNCTUATION[token.key]
        kind = _KINDS.get(token.kind, "operator")
        return kind if self._may_be_secret(token) else f'{kind} "{token.text}"'

    def _may_be_secret(self, token: Token) -> bool:
        """Whether showing the token could show a secret's value: a value without its quotes."""
        noun = self.tokens[min(1, len(self.tokens) - 1)].key
        return noun == "SECRET" or (noun == "CONNECTION" and token.kind == "string")

    def _check_length(self, token: Token) -> None:
        size = len(token.text.encode())
        if size > MAX_NAME_BYTES:
            self.fail(f"identifier too long (len: {size}, max: {MAX_NAME_BYTES})", token.start)
