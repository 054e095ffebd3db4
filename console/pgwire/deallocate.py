"""DEALLOCATE: prepared statements are the connection's, so it is answered here."""

from __future__ import annotations

import re

from catalog.sql.lexer import statements

_FIRST = re.compile(r"\s*deallocate\b", re.IGNORECASE)


def named(sql: str) -> str | None:
    """The prepared statement that the text gives up: its name, empty for all of them.

    None when the text does anything else. Raises SyntaxFailure.
    """
    if not _FIRST.match(sql):
        return None
    found = list(statements(sql))
    if len(found) != 1:
        return None
    keys = [token.key for token in found[0] if token.kind != "end"]
    words = [token.text for token in found[0] if token.kind in ("word", "quoted")]
    if keys[0] != "DEALLOCATE":
        return None
    rest = list(zip(keys, words, strict=False))[1:]
    if rest and rest[0][0] == "PREPARE" and len(rest) > 1:
        rest = rest[1:]
    if len(rest) != 1 or len(keys) != len(words):
        return None
    return "" if rest[0][0] == "ALL" else rest[0][1]
