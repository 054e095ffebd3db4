"""Numbers that look random and depend on nothing but their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
_MASK = 2**64 - 1


def number(below: int, *parts: int) -> int:
    """A number from 0 to `below` - 1 that is the same for the same parts."""
    state = 0x9E3779B97F4A7C15
    for part in parts:
        state = (state ^ part) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        state ^= state >> 31
    return state % below


def pick(choices: Sequence[T], *parts: int) -> T:
    """One of the choices."""
    return choices[number(len(choices), *parts)]


def text(words: Sequence[str], count: int, *parts: int) -> str:
    """Some words in a row."""
    return " ".join(pick(words, *parts, index) for index in range(count))


def data(size: int, *parts: int) -> bytes:
    """`size` bytes."""
    blocks = ((size + 7) // 8) if size else 0
    whole = b"".join(number(2**64, *parts, i).to_bytes(8, "big") for i in range(blocks))
    return whole[:size]
