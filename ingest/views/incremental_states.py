"""New values of a group's columns, from what is stored of it and what changed in it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql.connect import functions as F

from ingest.contract.views import Block

NET, KNOWN = "net", "known"


def numbered(letter: str, number: int) -> str:
    """What the number of a fold is called: `z3`."""
    return letter + str(number)


def never() -> Column:
    """False."""
    return F.lit(False)  # noqa: FBT003


@dataclass(frozen=True)
class State:
    """A new value, and whether it cannot be known."""

    value: Column
    doubt: Column


def counting(block: Block) -> int | None:
    """The number of the fold that counts a group's rows."""
    return next((n for n, each in enumerate(block.folds, 1) if each.how == "rows"), None)


def existence(block: Block) -> State:
    """Whether a group has rows; the one group of everything is always there."""
    if not block.key:
        return State(F.lit(True), never())  # noqa: FBT003
    rows = counting(block)
    if rows is not None:
        return State(_plus(rows, NET) > 0, never())
    known = F.col(KNOWN) == 1
    return State(known | (F.col(NET) > 0), known & (F.col(NET) < 0))


def _plus(number: int, more: str) -> Column:
    """A stored count and what came since."""
    return F.coalesce(F.col(numbered("z", number)), F.lit(0)) + F.coalesce(F.col(more), F.lit(0))


def following(block: Block, n: int) -> State:
    """The new value of the fold of that number, from 1."""
    each = block.folds[n - 1]
    if each.how == "rows":
        return State(_plus(n, NET), never())
    if each.how == "count":
        return State(_plus(n, numbered("c", n)), never())
    return _sum(block, n) if each.how == "sum" else _utmost(each.how, n)


def _sum(block: Block, n: int) -> State:
    """A sum is null when nothing is left to add."""
    total, more, known = F.col(numbered("t", n)), F.col(numbered("c", n)), F.col(numbered("z", n))
    if (count := count_of(block, n)) is not None:
        rows = block.folds[count - 1].how == "rows"
        left = _plus(count, NET if rows else numbered("c", n))
        return State(F.when(left > 0, total), never())
    if block.folds[n - 1].present and block.key:
        return State(total, never())
    some = F.when(known.isNotNull() | (more > 0), total)
    return State(some, F.coalesce(known.isNotNull() & (more < 0), never()))


def count_of(block: Block, n: int) -> int | None:
    """The number of the fold that counts what a sum adds up."""
    each = block.folds[n - 1]
    for number, other in enumerate(block.folds, 1):
        if other.how == "count" and other.value == each.value:
            return number
    return counting(block) if each.present else None


def _utmost(how: str, n: int) -> State:
    """The least or greatest: in doubt when it went, unless something as good came."""
    known, came, went = (F.col(numbered(letter, n)) for letter in "zid")
    value = F.least(known, came) if how == "min" else F.greatest(known, came)
    apart = went > known if how == "min" else went < known
    better = came <= went if how == "min" else came >= went
    safe = went.isNull() | F.coalesce(apart, never()) | F.coalesce(better, never())
    return State(value, ~safe)


def may_doubt(block: Block) -> bool:
    """Whether some changes of a group need it to be read again."""
    return uncounted(block) or any(each.how in ("min", "max") for each in block.folds)


def uncounted(block: Block) -> bool:
    """Whether it is not always known if a group, or what a sum of it adds up, is still there."""
    if block.key and counting(block) is None:
        return True
    return any(
        each.how == "sum" and not (each.present and block.key) and count_of(block, n) is None
        for n, each in enumerate(block.folds, 1)
    )
