"""Joining many things two by two, so that plans stay shallow: Spark Connect refuses deep ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def join(two: Callable[[T, T], T], parts: Sequence[T]) -> T:
    """`parts` joined by `two`, in order, as a tree of least depth. Needs at least one part."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return two(join(two, parts[:middle]), join(two, parts[middle:]))
