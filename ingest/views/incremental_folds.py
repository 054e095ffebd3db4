"""Groups made of their stored rows and what changed in them, without reading the rest again."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.types import DataType, DecimalType, StructType

from ingest.contract.views import FOLDED, MZ_DIFF, Block, Fold
from ingest.tables import reading
from ingest.tables.schema import quoted
from ingest.views.incremental_held import again, held, where

_NET, _KNOWN = "net", "known"


_SURE, _DOUBT, _WAS = "__sure", "__doubt", "__was"


@dataclass(frozen=True)
class Folded:
    """`made` are the groups that could be made, `gone` what all those that changed were, and
    `doubtful` the keys of those that could not be made, None when there is none."""

    made: DataFrame
    gone: DataFrame
    doubtful: DataFrame | None


def fold(
    live: SparkSession, block: Block, stored: DataFrame, changes: DataFrame, *, small: bool
) -> Folded | None:
    """The new groups of the keys in `changes`, whose columns are the key, the values and mz_diff.

    `stored` are the block's rows. None when they are not exact enough.
    """
    slots = [slot for n, each in enumerate(block.folds, 1) for slot in _slots(each, n)]
    moved = _moved(block, changes, slots)
    kinds = moved.schema
    if not _exact(block, stored.schema, kinds):
        return None
    mine = _of_keys(stored, block, moved, small=small) if block.key else stored
    known = _known(block, mine, slots, kinds)
    merged = _judged(block, _merged(block, moved.unionAll(known), slots))
    shape = merged.schema
    table = held(merged) if small else None
    if table is None:
        lazily = merged.where(F.col(_DOUBT)) if _may_doubt(block) else None
        return _folded(live, block, (merged.where(_SURE), merged.where(_WAS), lazily))
    parts = [again(live, where(table, shape, name), shape) for name in (_SURE, _WAS)]
    doubtful = where(table, shape, _DOUBT)
    unsure = again(live, doubtful, shape) if doubtful.num_rows else None
    return _folded(live, block, (parts[0], parts[1], unsure))


def _folded(
    live: SparkSession, block: Block, found: tuple[DataFrame, DataFrame, DataFrame | None]
) -> Folded:
    sure, was, doubtful = found
    made, gone = (
        reading.frame(
            live, block.finish, {FOLDED: rows.select(*block.key, *_named(block, letter))}
        )
        for rows, letter in ((sure, "s"), (was, "z"))
    )
    return Folded(made, gone, doubtful.select(*block.key) if doubtful is not None else None)


def _named(block: Block, letter: str) -> list[Column]:
    numbers = range(1, len(block.folds) + 1)
    return [F.col(_name(letter, n)).alias(_name("s", n)) for n in numbers]


def _of_keys(stored: DataFrame, block: Block, moved: DataFrame, *, small: bool) -> DataFrame:
    keys = moved.select(*block.key)
    keys = F.broadcast(keys) if small else keys
    pairs = zip(block.output_key, block.key, strict=True)
    same = [stored[quoted(name)].eqNullSafe(keys[key]) for name, key in pairs]
    return stored.join(keys, same, "left_semi")


def _judged(block: Block, merged: DataFrame) -> DataFrame:
    """The groups with their new values, and whether these are sure."""
    states = [_state(block, n) for n in range(1, len(block.folds) + 1)]
    exists = _existence(block)
    doubt = reduce(operator.or_, [state.doubt for state in states], exists.doubt)
    values = [state.value.alias(_name("s", n)) for n, state in enumerate(states, 1)]
    before = [F.col(_name("z", n)) for n in range(1, len(states) + 1)]
    sure = (~doubt & exists.value).alias(_SURE)
    was = (F.col(_KNOWN) == 1).alias(_WAS)
    return merged.select(*block.key, sure, doubt.alias(_DOUBT), was, *before, *values)


def exact_enough(kept: DataType, made: DataType) -> bool:
    """Whether a stored value is the one that was made."""
    if not isinstance(made, DecimalType):
        return True
    return isinstance(kept, DecimalType) and kept.scale >= made.scale


def _exact(block: Block, stored: StructType, kinds: StructType) -> bool:
    pairs = list(zip(block.output_key, block.key, strict=True))
    pairs += [(each.column, _name("z", n)) for n, each in enumerate(block.folds, 1)]
    return all(exact_enough(stored[a].dataType, kinds[b].dataType) for a, b in pairs)


@dataclass(frozen=True)
class _Slot:
    """A number kept while a group is made: from its changes, from what is stored, and merged."""

    name: str
    moved: Column
    stored: str
    merge: Callable[[str], Column]


def _slots(each: Fold, n: int) -> list[_Slot]:
    """z: what is stored. c: values more. t: their sum. i and d: the utmost that came and went."""
    if each.how == "rows":
        return [_stored(each, n, F.lit(0).cast("bigint"))]
    value, up = F.col(each.value), F.col(MZ_DIFF) > 0
    count = F.sum(F.when(value.isNotNull(), _sign()).otherwise(F.lit(0).cast("bigint")))
    counted = _Slot(_name("c", n), count, "", F.sum)
    if each.how == "count":
        return [_stored(each, n, F.lit(0).cast("bigint")), counted]
    if each.how == "sum":
        total = F.sum(F.when(up, value).otherwise(-value))
        summed = _Slot(_name("t", n), total, each.column, F.sum)
        return [_stored(each, n, F.sum(value)), counted, summed]
    utmost = F.min if each.how == "min" else F.max
    return [
        _stored(each, n, utmost(value)),
        _Slot(_name("i", n), utmost(F.when(up, value)), "", utmost),
        _Slot(_name("d", n), utmost(F.when(~up, value)), "", utmost),
    ]


def _stored(each: Fold, n: int, like: Column) -> _Slot:
    """What is stored; changes have none of it, only its type."""
    return _Slot(_name("z", n), F.when(_never(), like).otherwise(None), each.column, F.max)


def _name(letter: str, number: int) -> str:
    return letter + str(number)


def _never() -> Column:
    return F.lit(False)  # noqa: FBT003


def _sign() -> Column:
    return F.when(F.col(MZ_DIFF) > 0, F.lit(1)).otherwise(F.lit(-1)).cast("bigint")


def _moved(block: Block, changes: DataFrame, slots: list[_Slot]) -> DataFrame:
    """What changed in each group."""
    times = F.array_repeat(F.lit(0), F.abs(MZ_DIFF).cast("int"))
    each = _netted(block, changes).withColumn("__n", F.explode(times))
    sums = [slot.moved.alias(slot.name) for slot in slots]
    known = F.max(F.lit(0)).alias(_KNOWN)
    return each.groupBy(*block.key).agg(known, F.sum(_sign()).alias(_NET), *sums)


def _netted(block: Block, changes: DataFrame) -> DataFrame:
    """Changes that cancel out do not count as coming and going, where that counts."""
    if not any(each.how in ("min", "max") for each in block.folds):
        return changes
    values = sorted({each.value for each in block.folds if each.value})
    net = changes.groupBy(*block.key, *values).agg(F.sum(MZ_DIFF).alias(MZ_DIFF))
    return net.where(F.col(MZ_DIFF) != 0)


def _known(block: Block, stored: DataFrame, slots: list[_Slot], kinds: StructType) -> DataFrame:
    """What is stored of each group, laid out as what changed is."""
    keys = [
        F.col(quoted(name)).cast(kinds[key].dataType).alias(key)
        for name, key in zip(block.output_key, block.key, strict=True)
    ]
    sums = [
        (F.col(quoted(slot.stored)) if slot.stored else F.lit(None))
        .cast(kinds[slot.name].dataType)
        .alias(slot.name)
        for slot in slots
    ]
    net = F.lit(0).cast("bigint").alias(_NET)
    return stored.select(*keys, F.lit(1).alias(_KNOWN), net, *sums)


def _merged(block: Block, both: DataFrame, slots: list[_Slot]) -> DataFrame:
    sums = [slot.merge(slot.name).alias(slot.name) for slot in slots]
    net = F.coalesce(F.sum(_NET), F.lit(0)).alias(_NET)
    return both.groupBy(*block.key).agg(F.max(_KNOWN).alias(_KNOWN), net, *sums)


@dataclass(frozen=True)
class _State:
    """A new value, and whether it cannot be known."""

    value: Column
    doubt: Column


def _rows(block: Block) -> int | None:
    """The number of the fold that counts a group's rows."""
    return next((n for n, each in enumerate(block.folds, 1) if each.how == "rows"), None)


def _existence(block: Block) -> _State:
    """Whether a group has rows; the one group of everything is always there."""
    if not block.key:
        return _State(F.lit(True), _never())  # noqa: FBT003
    rows = _rows(block)
    if rows is not None:
        return _State(_plus(rows, _NET) > 0, _never())
    known = F.col(_KNOWN) == 1
    return _State(known | (F.col(_NET) > 0), known & (F.col(_NET) < 0))


def _plus(number: int, more: str) -> Column:
    """A stored count and what came since."""
    return F.coalesce(F.col(_name("z", number)), F.lit(0)) + F.coalesce(F.col(more), F.lit(0))


def _state(block: Block, n: int) -> _State:
    each = block.folds[n - 1]
    if each.how == "rows":
        return _State(_plus(n, _NET), _never())
    if each.how == "count":
        return _State(_plus(n, _name("c", n)), _never())
    return _sum(block, n) if each.how == "sum" else _utmost(each.how, n)


def _sum(block: Block, n: int) -> _State:
    """A sum is null when nothing is left to add."""
    total, more, known = F.col(_name("t", n)), F.col(_name("c", n)), F.col(_name("z", n))
    if (count := _count_of(block, n)) is not None:
        rows = block.folds[count - 1].how == "rows"
        left = _plus(count, _NET if rows else _name("c", n))
        return _State(F.when(left > 0, total), _never())
    if block.folds[n - 1].present and block.key:
        return _State(total, _never())
    some = F.when(known.isNotNull() | (more > 0), total)
    return _State(some, F.coalesce(known.isNotNull() & (more < 0), _never()))


def _count_of(block: Block, n: int) -> int | None:
    """The number of the fold that counts what a sum adds up."""
    each = block.folds[n - 1]
    for number, other in enumerate(block.folds, 1):
        if other.how == "count" and other.value == each.value:
            return number
    return _rows(block) if each.present else None


def _utmost(how: str, n: int) -> _State:
    """The least or greatest: in doubt when it went, unless something as good came."""
    known, came, went = (F.col(_name(letter, n)) for letter in "zid")
    value = F.least(known, came) if how == "min" else F.greatest(known, came)
    apart = went > known if how == "min" else went < known
    better = came <= went if how == "min" else came >= went
    safe = went.isNull() | F.coalesce(apart, _never()) | F.coalesce(better, _never())
    return _State(value, ~safe)


def _may_doubt(block: Block) -> bool:
    """Whether some changes of a group need it to be read again."""
    if block.key and _rows(block) is None:
        return True
    for n, each in enumerate(block.folds, 1):
        if each.how in ("min", "max"):
            return True
        unsure = not (each.present and block.key) and _count_of(block, n) is None
        if each.how == "sum" and unsure:
            return True
    return False
