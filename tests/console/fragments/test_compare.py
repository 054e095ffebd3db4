"""Texts side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.fragments.compare import Line, compare

LINES = st.lists(st.sampled_from(["SELECT", "  a,", "  b,", "FROM t", "", "WHERE a > 1"]))


def _words(line: Line | None) -> str | None:
    return None if line is None else "".join(piece.text for piece in line.pieces)


def test_a_changed_line_says_where() -> None:
    found = compare("SELECT\n  max(a)\nFROM t", "SELECT\n  min(a)\nFROM t\nLIMIT 1")
    assert [pair.kind for pair in found.pairs] == ["same", "changed", "same", "added"]
    changed = found.pairs[1]
    assert changed.before is not None
    assert [(p.text, p.marked) for p in changed.before.pieces if p.marked] == [("max", True)]
    assert (found.added, found.removed, found.changed) == (1, 0, 1)
    assert compare("a", "a").same


@given(LINES, LINES)
def test_both_sides_are_whole_and_numbered(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    pairs = compare(before, after).pairs
    left = [pair.before for pair in pairs if pair.before]
    right = [pair.after for pair in pairs if pair.after]
    assert [_words(line) for line in left] == before.splitlines()
    assert [_words(line) for line in right] == after.splitlines()
    assert [line.number for line in left] == list(range(1, len(left) + 1))
    assert [line.number for line in right] == list(range(1, len(right) + 1))
    assert compare(before, after).same == (before.splitlines() == after.splitlines())
