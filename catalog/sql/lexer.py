"""PostgreSQL's lexical structure: text to tokens, one statement at a time.

Knows nested comments, `E''` strings, dollar quotes, quoted identifiers, parameters and the rule
by which PostgreSQL ends an operator. Raises `SyntaxFailure` with a position, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from catalog.errors import SyntaxFailure
from catalog.sql.strings import fold, unescape

_TOKEN = re.compile(
    r"""
    (?P<space>    (?: [ \t\n\r\f\v]++ | --[^\n\r]*+ )++ )
  | (?P<comment>  /\* )
  | (?P<bits>     [bBxX]'[^']*+' )
  | (?P<escaped>  [eE]'(?:''|\\.|[^'\\])*+' )
  | (?P<string>   '(?:''|[^'])*+' )
  | (?P<open>     [bBxXeE]?' )
  | (?P<prefix>   [uU]&(?=['"]) | [nN](?=') )
  | (?P<word>     [A-Za-z_\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*+ )
  | (?P<junk>     (?>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?=[A-Za-z_\u0080-\U0010ffff]) )
  | (?P<number>   (?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)? )
  | (?P<punct>    ::|[()\[\],;.:] )
  | (?P<quoted>   "(?:""|[^"])*+" )
  | (?P<param>    \$\d++ )
  | (?P<dollar>   \$(?:[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*+)?\$ )
  | (?P<operator> [-+*/<>=~!@\#%^&|`?]++ )
    """,
    re.VERBOSE | re.DOTALL,
)
_REFUSED = {
    "open": "unterminated quoted string",
    "prefix": "string constants with the prefix U& or N are not supported",
    "junk": "trailing junk after numeric literal",
}
_BODIES = {
    "string": re.compile(r"'(?:''|[^'])*+'"),
    "escaped": re.compile(r"'(?:''|\\.|[^'\\])*+'", re.DOTALL),
}
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_CONTINUED = re.compile(r"(?:[ \t\f\v]|--[^\n\r]*)*[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*)*(?=')")
_FORBIDDEN = re.compile("[\x00\ud800-\udfff]")
_KEEPS_SIGN = re.compile(r"[~!@#%^&|`?]")


class Token(NamedTuple):
    """One token; `start` and `end` are 0-based offsets into the whole input.

    `kind` is word, quoted, string, bits, number, param, punct, operator or end. `text` is the
    value of a literal or name, a word's folded to lower case. `key` is what keywords, punctuation
    and operators are compared by: upper case; empty for literals and quoted names.
    """

    kind: str
    text: str
    key: str
    start: int
    end: int


def statements(sql: str) -> Iterator[list[Token]]:
    """The tokens of each statement of the input, each list closed by a token of kind `end`.

    Empty statements are left out. Lexing is lazy, so a failure comes after what stands before it.
    """
    forbidden = _FORBIDDEN.search(sql)
    current: list[Token] = []
    for token in _tokens(sql, forbidden.start() if forbidden else len(sql)):
        if token.key != ";":
            current.append(token)
        elif current:
            yield [*current, Token("end", "semicolon", "", token.start, token.start)]
            current = []
    if forbidden:
        raise SyntaxFailure("invalid character in input", sql, forbidden.start())
    if current:
        yield [*current, Token("end", "EOF", "", len(sql), len(sql))]


def _tokens(sql: str, stop: int) -> Iterator[Token]:
    position, match_at = 0, _TOKEN.match
    while position < stop:
        match = match_at(sql, position)
        if match is None:
            raise _unexpected(sql, position)
        kind, start = match.lastgroup or "", position
        position = match.end()
        if kind == "word":
            text = fold(match[0])
            yield Token(kind, text, text.upper(), start, position)
        elif kind == "punct":
            yield Token(kind, match[0], match[0], start, position)
        elif kind in ("number", "bits", "param"):
            yield Token(kind, match[0], "", start, position)
        elif kind != "space":
            token, position = _other(sql, match, kind)
            if token is not None:
                yield token


def _other(sql: str, match: re.Match[str], kind: str) -> tuple[Token | None, int]:
    start = match.start()
    if kind == "comment":
        return None, _end_of_comment(sql, start)
    if kind in _REFUSED:
        raise SyntaxFailure(_REFUSED[kind], sql, start)
    if kind == "operator":
        text = _operator(match[0])
        return Token(kind, text, text, start, start + len(text)), start + len(text)
    if kind == "quoted":
        return _quoted(sql, match), match.end()
    if kind == "dollar":
        return _dollar_string(sql, match)
    return _string(sql, match, kind)


def _quoted(sql: str, match: re.Match[str]) -> Token:
    text = match[0][1:-1].replace('""', '"')
    if not text:
        raise SyntaxFailure("zero-length delimited identifier", sql, match.start())
    return Token("quoted", text, "", match.start(), match.end())


def _string(sql: str, match: re.Match[str], kind: str) -> tuple[Token, int]:
    """A string with its continuations: literals with a newline between them are one."""
    raw, end = match[0][2 if kind == "escaped" else 1 : -1], match.end()
    while gap := _CONTINUED.match(sql, end):
        body = _BODIES[kind].match(sql, gap.end())
        if body is None:
            raise SyntaxFailure("unterminated quoted string", sql, gap.end())
        raw, end = raw + body[0][1:-1], body.end()
    text = _unescaped(sql, raw, match.start()) if kind == "escaped" else raw.replace("''", "'")
    return Token("string", text, "", match.start(), end), end


def _unescaped(sql: str, raw: str, start: int) -> str:
    try:
        return unescape(raw)
    except ValueError as error:
        raise SyntaxFailure(str(error), sql, start) from None


def _dollar_string(sql: str, match: re.Match[str]) -> tuple[Token, int]:
    close = sql.find(match[0], match.end())
    if close < 0:
        raise SyntaxFailure("unterminated dollar-quoted string", sql, match.start())
    end = close + len(match[0])
    return Token("string", sql[match.end() : close], "", match.start(), end), end


def _operator(raw: str) -> str:
    """PostgreSQL's rule: stop before a comment; end in + or - only beside one of ~!@#%^&|`?."""
    edges = [at for at in (raw.find("--"), raw.find("/*")) if at >= 0]
    text = raw[: min(edges)] if edges else raw
    while len(text) > 1 and text[-1] in "+-" and not _KEEPS_SIGN.search(text):
        text = text[:-1]
    return text


def _end_of_comment(sql: str, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(sql, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    raise SyntaxFailure("unterminated multiline comment", sql, start)


def _unexpected(sql: str, position: int) -> SyntaxFailure:
    if sql[position] == '"':
        return SyntaxFailure("unterminated quoted identifier", sql, position)
    return SyntaxFailure(f"unexpected character in input: {sql[position]}", sql, position)
