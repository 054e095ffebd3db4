"""Two texts side by side: which lines were added, removed and changed, and where in a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_ALIKE = 0.4
"""From this likeness on, two lines are told as one that changed."""


@dataclass(frozen=True)
class Piece:
    """A part of a line; `marked` when the other side has something else there."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class Line:
    """A numbered line of one side."""

    number: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Pair:
    """A row of the comparison; `kind` is same, changed, removed or added."""

    kind: str
    before: Line | None
    after: Line | None


@dataclass(frozen=True)
class Comparison:
    """The whole comparison and how many lines of it were added, removed and changed."""

    pairs: tuple[Pair, ...]
    added: int
    removed: int
    changed: int

    @property
    def same(self) -> bool:
        """Whether the texts are the same."""
        return not (self.added or self.removed or self.changed)


def compare(before: str, after: str) -> Comparison:
    """Compare two texts line by line."""
    pairs = tuple(_pairs(before.splitlines(), after.splitlines()))
    kinds = [pair.kind for pair in pairs]
    return Comparison(pairs, kinds.count("added"), kinds.count("removed"), kinds.count("changed"))


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        left = [(number + 1, old[number]) for number in range(i, i_end)]
        right = [(number + 1, new[number]) for number in range(j, j_end)]
        if tag == "equal":
            for (a, text), (b, _) in zip(left, right, strict=True):
                plain = (Piece(text),)
                yield Pair("same", Line(a, plain), Line(b, plain))
        else:
            yield from _changed(left, right)


_Numbered = tuple[int, str]


def _changed(left: Sequence[_Numbered], right: Sequence[_Numbered]) -> Iterator[Pair]:
    """Lines that are alike as one changed line, the others removed and then added."""
    for one, other in zip_longest(left, right):
        if one and other and SequenceMatcher(None, one[1], other[1]).ratio() >= _ALIKE:
            before, after = _words(one[1], other[1])
            yield Pair("changed", Line(one[0], before), Line(other[0], after))
            continue
        if one:
            yield Pair("removed", Line(one[0], (Piece(one[1]),)), None)
        if other:
            yield Pair("added", None, Line(other[0], (Piece(other[1]),)))


def _words(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        marked = tag != "equal"
        if i_end > i:
            left.append(Piece("".join(old[i:i_end]), marked))
        if j_end > j:
            right.append(Piece("".join(new[j:j_end]), marked))
    return tuple(left), tuple(right)
