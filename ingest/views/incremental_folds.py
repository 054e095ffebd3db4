"""Groups made of their stored rows and what changed in them, without reading the rest again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Literal

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.types import BooleanType, DataType, DecimalType, StructField, StructType

from ingest.contract.views import FOLDED, MZ_DIFF, Block, Fold
from ingest.tables import reading
from ingest.tables.schema import quoted
from ingest.views import incremental_known, incremental_plain, incremental_sums
from ingest.views.incremental_held import again, brought, held, where
from ingest.views.incremental_known import SURE, WAS
from ingest.views.incremental_states import (
    KNOWN,
    NET,
    existence,
    following,
    may_doubt,
    never,
    numbered,
)
from ingest.views.incremental_utmost import safe
from ingest.views.near import Near, netted

Size = Literal["few", "small", "large"]
"""Of the changes: few come through this process, small ones fit the memory of one."""
Stored = Callable[[], DataFrame]
"""Gives a block's rows, which are planned only when they are asked for."""

_DOUBT, _SIDE = "__doubt", "__side"


@dataclass(frozen=True)
class Folded:
    """`changes` are the groups that could be made less what all those that changed were, with
    mz_diff; `doubtful` the keys of those that could not be made, None when there is none. `net`:
    the changes are consolidated, and of the stored columns' types."""

    changes: DataFrame
    doubtful: DataFrame | None
    net: bool = False


def fold(  # noqa: PLR0913
    live: SparkSession,
    block: Block,
    stored: Stored,
    changes: Stored,
    size: Size,
    near: Near | None = None,
) -> Folded | None:
    """The new groups of the keys in `changes`, whose columns are the key, the values and mz_diff.

    `stored` gives the block's rows, which `near` may find by key. None when they are not exact
    enough.
    """
    slots = [slot for n, each in enumerate(block.folds, 1) for slot in _slots(each, n)]
    if near is not None and size == "few":
        found = _found(live, block, changes, slots, near)
    else:
        moved = _moved(block, changes(), slots)
        found = _Groups(lambda: moved, moved.schema)
    if found.made is not None:
        return Folded(found.made, None, net=True)
    kinds, kept, merged = found.kinds, found.kept, found.merged
    if kept is None or merged is None:
        whole = stored()
        kept = whole.schema
        moved = found.moved()
        mine = _of_keys(whole, block, moved, small=size != "large") if block.key else whole
        merged = _merged(block, moved, _known(block, mine, slots, kinds), slots)
    if not _exact(block, kept, kinds):
        return None
    was = incremental_known.columns(kept) if found.beside else []
    judged = _judged(block, merged, kinds, was, certain=found.certain)
    if near is not None and found.beside:
        made = incremental_known.changes(live, block, judged, kept, near.hidden)
        return Folded(made, None, net=True)
    if found.certain or not may_doubt(block):
        return Folded(_finished(live, block, judged), None)
    shape = _shape(block, kinds)
    sides = _sides(judged, shape, size)
    if sides is None:
        doubtful = judged.where(F.col(_DOUBT)).select(*block.key)
        return Folded(_finished(live, block, judged), doubtful)
    rows, doubts = again(live, sides, shape), where(sides, shape, _DOUBT)
    rows = rows.coalesce(1) if size == "few" else rows
    unsure = again(live, doubts, shape).select(*block.key) if doubts.num_rows else None
    return Folded(_finished(live, block, rows), unsure)


@dataclass(frozen=True)
class _Groups:
    """Groups that changed: what `moved` in them, of the columns `kinds`, and that `merged` with
    their stored rows, of the columns `kept`, when these are known here. `certain`: none is in
    doubt. `beside`: none is or can be, and behind each is its stored row. `made`: what changes
    of the stored columns, with mz_diff, consolidated."""

    moved: Stored
    kinds: StructType
    kept: StructType | None = None
    merged: DataFrame | None = None
    certain: bool = False
    beside: bool = False
    made: DataFrame | None = None


def _found(
    live: SparkSession, block: Block, changes: Stored, slots: list[_Slot], near: Near
) -> _Groups:
    """What of them is known in this process."""
    known, given = near.changes, changes
    if known is None:
        shape = near.schema("changes", changes)
        few = held(changes(), shape)
        if few is not None:
            given = partial(near.groups, few, shape)
            known = netted(few.rename_columns(shape.names))
    moved: Stored = cache(lambda: _moved(block, given(), slots))
    kinds = near.schema("moved", moved)
    if known is None:
        table = brought(moved(), kinds)
        moved = cache(lambda: again(live, table, kinds).coalesce(1))
        keys = table.select(range(len(block.key)))
    else:
        keys = known.select(block.key)
    own = near.rows(keys)
    if own is None:
        return _Groups(moved, kinds)
    kept = near.schema("stored", lambda: near.frame(own))
    certain = known is not None and may_doubt(block) and safe(block, known, own)
    found = None if known is None else incremental_sums.merged(block, known, own, kinds)
    if found is None:
        merged = _merged(block, moved(), _known(block, near.frame(own), slots, kinds), slots)
        return _Groups(moved, kinds, kept, merged, certain)
    groups = incremental_sums.shape(block, kinds)
    if may_doubt(block) and not certain:
        return _Groups(moved, kinds, kept, near.groups(found.groups, groups))
    made = incremental_plain.changes(block, found, own, (groups, kinds), near.hidden)
    if made is not None and _exact(block, kept, kinds):
        return _Groups(moved, kinds, made=near.frame(made))
    whole = incremental_known.beside(found.groups, own, found.places)
    merged = near.groups(whole, incremental_known.shape(groups, kept))
    return _Groups(moved, kinds, kept, merged, certain, beside=True)


def _sides(judged: DataFrame, shape: StructType, size: Size) -> pa.Table | None:
    if size == "large":
        return None
    return held(judged, shape) if size == "small" else brought(judged, shape)


def _finished(live: SparkSession, block: Block, judged: DataFrame) -> DataFrame:
    """What the groups are now less what they were, in one pass over them."""
    sides = F.array(
        F.when(F.col(SURE), F.struct(*_named(block, "s"), _diff(1))),
        F.when(F.col(WAS), F.struct(*_named(block, "z"), _diff(-1))),
    )
    found = judged.select(*block.key, F.explode(sides).alias(_SIDE))
    rows = found.where(F.col(_SIDE).isNotNull()).select(*block.key, f"{_SIDE}.*")
    return reading.frame(live, block.finish, {FOLDED: rows})


def _diff(count: int) -> Column:
    return F.lit(count).cast("bigint").alias(MZ_DIFF)


def _named(block: Block, letter: str) -> list[Column]:
    numbers = range(1, len(block.folds) + 1)
    return [F.col(numbered(letter, n)).alias(numbered("s", n)) for n in numbers]


def _of_keys(stored: DataFrame, block: Block, moved: DataFrame, *, small: bool) -> DataFrame:
    keys = moved.select(*block.key)
    keys = F.broadcast(keys) if small else keys
    pairs = zip(block.output_key, block.key, strict=True)
    same = [stored[quoted(name)].eqNullSafe(keys[key]) for name, key in pairs]
    return stored.join(keys, same, "left_semi")


def _judged(
    block: Block,
    merged: DataFrame,
    kinds: StructType,
    also: Sequence[str] = (),
    *,
    certain: bool = False,
) -> DataFrame:
    """The groups with their new values, of the kinds of the old ones, and whether these are sure;
    `also` are columns that are kept as they are.

    A sum that outgrows its kind fails, as it does when it is computed again; so does a doubt
    where it is `certain` that there is none.
    """
    numbers = range(1, len(block.folds) + 1)
    states = [following(block, n) for n in numbers]
    exists = existence(block)
    doubt = reduce(operator.or_, [state.doubt for state in states], exists.doubt)
    before = [F.col(numbered("z", n)) for n in numbers]
    values = [
        state.value.cast(kinds[numbered("z", n)].dataType).alias(numbered("s", n))
        for n, state in zip(numbers, states, strict=True)
    ]
    if certain:
        none = F.raise_error(F.lit("a group is in doubt that was not to be"))
        doubt = F.when(doubt, none).otherwise(never())
    sure = (~doubt & exists.value).alias(SURE)
    was = (F.col(KNOWN) == 1).alias(WAS)
    return merged.select(*block.key, sure, doubt.alias(_DOUBT), was, *before, *values, *also)


def _shape(block: Block, kinds: StructType) -> StructType:
    """The columns of judged groups."""
    numbers = range(1, len(block.folds) + 1)
    flags = [StructField(name, BooleanType()) for name in (SURE, _DOUBT, WAS)]
    values = [
        StructField(numbered(letter, n), kinds[numbered("z", n)].dataType)
        for letter in "zs"
        for n in numbers
    ]
    return StructType([*(kinds[key] for key in block.key), *flags, *values])


def exact_enough(kept: DataType, made: DataType) -> bool:
    """Whether a stored value is the one that was made."""
    if not isinstance(made, DecimalType):
        return True
    return isinstance(kept, DecimalType) and kept.scale >= made.scale


def _exact(block: Block, stored: StructType, kinds: StructType) -> bool:
    pairs = list(zip(block.output_key, block.key, strict=True))
    pairs += [(each.column, numbered("z", n)) for n, each in enumerate(block.folds, 1)]
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
    counted = _Slot(numbered("c", n), count, "", F.sum)
    if each.how == "count":
        return [_stored(each, n, F.lit(0).cast("bigint")), counted]
    if each.how == "sum":
        total = F.sum(F.when(up, value).otherwise(-value))
        summed = _Slot(numbered("t", n), total, each.column, F.sum)
        return [_stored(each, n, F.sum(value)), counted, summed]
    utmost = F.min if each.how == "min" else F.max
    return [
        _stored(each, n, utmost(value)),
        _Slot(numbered("i", n), utmost(F.when(up, value)), "", utmost),
        _Slot(numbered("d", n), utmost(F.when(~up, value)), "", utmost),
    ]


def _stored(each: Fold, n: int, like: Column) -> _Slot:
    """What is stored; changes have none of it, only its type."""
    return _Slot(numbered("z", n), F.when(never(), like).otherwise(None), each.column, F.max)


def _sign() -> Column:
    return F.when(F.col(MZ_DIFF) > 0, F.lit(1)).otherwise(F.lit(-1)).cast("bigint")


def _moved(block: Block, changes: DataFrame, slots: list[_Slot]) -> DataFrame:
    """What changed in each group."""
    times = F.array_repeat(F.lit(0), F.abs(MZ_DIFF).cast("int"))
    each = _netted(block, changes).withColumn("__n", F.explode(times))
    sums = [slot.moved.alias(slot.name) for slot in slots]
    known = F.max(F.lit(0)).alias(KNOWN)
    return each.groupBy(*block.key).agg(known, F.sum(_sign()).alias(NET), *sums)


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
    net = F.lit(0).cast("bigint").alias(NET)
    return stored.select(*keys, F.lit(1).alias(KNOWN), net, *sums)


def _merged(block: Block, moved: DataFrame, known: DataFrame, slots: list[_Slot]) -> DataFrame:
    both = moved.unionAll(known)
    sums = [slot.merge(slot.name).alias(slot.name) for slot in slots]
    net = F.coalesce(F.sum(NET), F.lit(0)).alias(NET)
    return both.groupBy(*block.key).agg(F.max(KNOWN).alias(KNOWN), net, *sums)
