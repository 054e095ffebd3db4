"""What a view's query gives anew and no longer after changes of its inputs, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.views import AFFECTED, MZ_DIFF, Block, Part
from ingest.tables import reading
from ingest.tables.schema import quoted
from ingest.views import incremental_folds, incremental_top, whole
from ingest.views.incremental_folds import Size, Stored
from ingest.views.near import Near

Frames = Mapping[str, DataFrame]


@dataclass(frozen=True)
class Difference:
    """`rows` have a block's columns and mz_diff; `net`: they are consolidated, and of the types of
    the view's stored columns."""

    rows: DataFrame
    net: bool = False


def difference(  # noqa: PLR0913
    live: SparkSession,
    block: Block,
    old: Frames,
    new: Frames,
    changed: Frames,
    stored: Stored | None = None,
    *,
    size: Size = "few",
    near: Near | None = None,
) -> Difference:
    """The rows that the block has more, or fewer, with `new` inputs than with `old` ones.

    All three are frames by input name; those of `changed` have the input's columns and mz_diff
    (not 0), which also adds up to new less old; an input that is not in it did not change. The
    answer has the block's columns and mz_diff (bigint). `stored` are the
    rows that the view itself has; the root should always be given them: they say what to take
    back where computing it again is dearer, or may come out otherwise; they are asked for when
    they are needed. `near` may know those of some keys without Spark. `size` is the changes'.
    """
    known = cache(lambda: stored().toDF(*block.columns)) if stored is not None else None
    return Change(live, old, new, changed, size, near).of(block, known)


def used(block: Block) -> dict[str, tuple[str, ...] | None]:
    """The columns of each input whose changes matter to the block; None for all of them."""
    found: dict[str, tuple[str, ...] | None] = {}
    parts = {part.child: part.columns for part in (*block.parts, *block.keys)}
    for name, child in block.children.items():
        found |= {child: parts.get(name)} if isinstance(child, str) else used(child)
    return found


def uses(block: Block) -> Counter[str]:
    """How often the changes of each input are looked at, or more; those that are looked at once
    need not be consolidated either."""
    found: Counter[str] = Counter()
    by_part = {part.child for part in block.parts if not part.touched}
    keyed = {part.child for part in block.keys}
    for name, child in block.children.items():
        plain = name in by_part - keyed and block.kind in ("linear", "partitioned")
        for each, times in (Counter([child]) if isinstance(child, str) else uses(child)).items():
            found[each] += times if plain else 2 * times
    return found


@dataclass(frozen=True)
class Change:
    """One step of every input, from `old` to `new` by `changed`."""

    live: SparkSession
    old: Frames
    new: Frames
    changed: Frames
    size: Size = "few"
    near: Near | None = None

    def of(self, block: Block, stored: Stored | None = None) -> Difference:
        """A block's difference; see `difference`."""
        moved = [name for name in block.children if self._moved(block.children[name])]
        if not moved:
            nothing = whole.block(self.live, block, self.new).limit(0)
            return Difference(nothing.withColumn(MZ_DIFF, F.lit(0).cast("bigint")))
        found: Difference | None = None
        if block.kind in ("linear", "partitioned"):
            found = self._followed(block, moved, stored)
        elif block.kind == "topk" and stored is not None:
            found = self._first(block, stored)
        return Difference(self._again(block, stored)) if found is None else found

    def _moved(self, child: Block | str) -> bool:
        names = (child,) if isinstance(child, str) else child.inputs
        return any(name in self.changed for name in names)

    def _first(self, block: Block, stored: Stored) -> Difference | None:
        (child,) = block.children.values()
        if self.near is not None and self.size == "few" and isinstance(child, Block):
            moved = [name for name, below in child.children.items() if self._moved(below)]
            placed = incremental_top.here(
                block, self.near, self.near.rows_of(child, moved), lambda: self.of(child).rows
            )
            if placed is not None:
                table = incremental_top.taken(placed, block.limit)
                return None if table is None else Difference(self.near.frame(table), net=True)
        top = incremental_top.first(self.live, block, stored(), self._changes(child))
        return Difference(top) if top is not None else None

    def _followed(
        self, block: Block, moved: list[str], stored: Stored | None
    ) -> Difference | None:
        """What parts and partitions give; None when it has to be computed again."""
        by_part = {part.child for part in block.parts}
        terms = [
            self._term(block, part, self._changes(block.children[part.child]))
            for part in block.parts
            if part.child in moved
        ]
        keyed = [name for name in moved if name not in by_part]
        if keyed:
            same = stored if not terms and len(block.output_key) == len(block.key) else None
            found = self._partitions(block, keyed, same)
            if found is None:
                return None
            if found.net and not terms:
                return found
            terms.append(found.rows)
        return Difference(reduce(DataFrame.unionAll, terms))

    def _term(self, block: Block, part: Part, changes: DataFrame) -> DataFrame:
        """What one child's changes give, with the children before it new and those after old."""
        frames: dict[str, DataFrame] = {}
        before = True
        for name, child in block.children.items():
            if name == part.child:
                frames[name] = self._few(changes)
                before = False
            else:
                frames[name] = self._side(child, self.new if before else self.old)
        if part.touched:
            touched = reading.frame(self.live, part.touched, {**frames, part.child: changes})
            frames[AFFECTED] = self._few(touched.select(*block.key).distinct())
        found = reading.frame(self.live, part.sql, frames)
        return found.withColumn(MZ_DIFF, F.col(MZ_DIFF).cast("bigint"))

    def _few(self, rows: DataFrame) -> DataFrame:
        return rows if self.size == "large" else F.broadcast(rows)

    def _changes(self, child: Block | str) -> DataFrame:
        return self.changed[child] if isinstance(child, str) else self.of(child).rows

    def _side(self, child: Block | str, inputs: Frames) -> DataFrame:
        return inputs[child] if isinstance(child, str) else whole.block(self.live, child, inputs)

    def _partitions(
        self, block: Block, keyed: list[str], stored: Stored | None
    ) -> Difference | None:
        """The partitions that the children's changes touch: as they are now, less as they were.

        Children that `parts` follow are new on both sides: their changes are counted there.
        """
        parts = [part for part in block.keys if part.child in keyed]
        if stored is not None and block.folds:
            found = self._folded(block, parts, stored)
            if found is not None:
                return found
        if not block.key:
            return None
        keys = self._touched(block, parts, net=True).select(*block.key).distinct()
        affected = self._few(keys)
        own = self._own(block, stored, affected)
        if own is None and not block.exact:
            return None
        if own is None:
            sides = {name: self.old if name in keyed else self.new for name in block.children}
            own = self._restricted(block, sides, affected)
        now = _times(self._now(block, affected), 1)
        return Difference(now.unionAll(_times(own, -1)))

    def _touched(self, block: Block, parts: list[Part], *, net: bool) -> DataFrame:
        """What the children's changes give of keys; `net` without those that cancel out."""
        terms = []
        for part in parts:
            changes = self._changes(block.children[part.child])
            terms.append(self._term(block, part, _net(changes, part) if net else changes))
        return reduce(DataFrame.unionAll, terms)

    def _folded(self, block: Block, parts: list[Part], stored: Stored) -> Difference | None:
        changes = cache(lambda: self._touched(block, parts, net=False))
        near = self.near if self.near is not None and self.near.keyed else None
        near = near.of(block, parts) if near is not None else None
        found = incremental_folds.fold(self.live, block, stored, changes, self.size, near)
        if found is None or (found.doubtful is not None and not block.key):
            return None
        if found.doubtful is None:
            return Difference(found.changes, found.net)
        again = self._now(block, self._few(found.doubtful))
        return Difference(found.changes.unionAll(_times(again, 1)))

    def _now(self, block: Block, affected: DataFrame) -> DataFrame:
        return self._restricted(block, dict.fromkeys(block.children, self.new), affected)

    def _restricted(
        self, block: Block, sides: dict[str, Frames], affected: DataFrame
    ) -> DataFrame:
        """The affected partitions, each child on a side of its own."""
        frames = {name: self._side(child, sides[name]) for name, child in block.children.items()}
        return reading.frame(self.live, block.restricted, {**frames, AFFECTED: affected})

    def _own(self, block: Block, stored: Stored | None, affected: DataFrame) -> DataFrame | None:
        """The view's own rows of the affected keys; None when they cannot be told."""
        if stored is None:
            return None
        pairs = list(zip(block.output_key, block.key, strict=True))
        rows = stored()
        kept, made = rows.schema, affected.schema
        if not all(
            incremental_folds.exact_enough(kept[name].dataType, made[key].dataType)
            for name, key in pairs
        ):
            return None
        same = [rows[quoted(name)].eqNullSafe(affected[key]) for name, key in pairs]
        return rows.join(affected, same, "left_semi")

    def _again(self, block: Block, stored: Stored | None) -> DataFrame:
        before = stored() if stored is not None else whole.block(self.live, block, self.old)
        made = _times(whole.block(self.live, block, self.new), 1)
        return made.unionAll(_times(before, -1))


def _net(changes: DataFrame, part: Part) -> DataFrame:
    """A child's changes of the columns that matter, without those that cancel out."""
    if part.columns is None:
        return changes
    names = [quoted(name) for name in part.columns]
    summed = changes.groupBy(*names).agg(F.sum(MZ_DIFF).alias(MZ_DIFF))
    return summed.where(F.col(MZ_DIFF) != 0)


def _times(rows: DataFrame, count: int) -> DataFrame:
    return rows.withColumn(MZ_DIFF, F.lit(count).cast("bigint"))
