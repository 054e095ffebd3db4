"""How PostgreSQL spells values: folding of names, quoting, and backslash escapes."""

from __future__ import annotations

import re

from catalog.sql.keywords import RESERVED

_BARE = re.compile(r"[a-z_][a-z0-9_$]*", re.ASCII)
_UPPER = str.maketrans({chr(c): chr(c + 32) for c in range(ord("A"), ord("Z") + 1)})
_ESCAPE = re.compile(
    r"''|\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})"
    r"|u(?P<short>[0-9A-Fa-f]{4})|U(?P<long>[0-9A-Fa-f]{8})|(?P<char>.))",
    re.DOTALL,
)
_CHARACTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def fold(word: str) -> str:
    """Lower case of an unquoted name: ASCII letters only, as PostgreSQL does in UTF-8."""
    return word.translate(_UPPER)


def identifier(text: str) -> str:
    """The name as SQL, in double quotes only when it would not read back bare."""
    if _BARE.fullmatch(text) and text not in RESERVED:
        return text
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The text as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def unescape(raw: str) -> str:
    """The value of an `E''` string's body. Raises ValueError for an impossible character."""
    return _ESCAPE.sub(_character, raw)


def _character(match: re.Match[str]) -> str:
    if match[0] == "''":
        return "'"
    digits = match["hex"] or match["short"] or match["long"]
    if match["char"] in ("u", "U"):
        raise ValueError("invalid Unicode escape")
    if not digits and not match["octal"]:
        return _CHARACTERS.get(match["char"], match["char"])
    code = int(digits, 16) if digits else int(match["octal"], 8)
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError("invalid Unicode escape value")
    return chr(code)
