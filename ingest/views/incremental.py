"""What a view's query gives anew and no longer after changes of its inputs, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.views import AFFECTED, MZ_DIFF, Block, Part
from ingest.tables import reading
from ingest.tables.schema import quoted
from ingest.views import incremental_top, whole

Frames = dict[str, DataFrame]


def difference(  # noqa: PLR0913
    live: SparkSession,
    block: Block,
    old: Frames,
    new: Frames,
    changed: Frames,
    stored: DataFrame | None = None,
) -> DataFrame:
    """The rows that the block has more, or fewer, with `new` inputs than with `old` ones.

    All three are frames by input name; those of `changed` have the input's columns and mz_diff
    (not 0), which also adds up to new less old; an input that is not in it did not change. The
    answer has the block's columns and mz_diff (bigint) and is not consolidated. `stored` are the
    rows that the view itself has; the root should always be given them: they say what to take
    back where computing it again is dearer, or may come out otherwise.
    """
    known = stored.toDF(*block.columns) if stored is not None else None
    return Change(live, old, new, changed).of(block, known)


@dataclass(frozen=True)
class Change:
    """One step of every input, from `old` to `new` by `changed`."""

    live: SparkSession
    old: Frames
    new: Frames
    changed: Frames

    def of(self, block: Block, stored: DataFrame | None = None) -> DataFrame:
        """A block's difference; see `difference`."""
        moved = [name for name in block.children if self._moved(block.children[name])]
        if not moved:
            nothing = whole.block(self.live, block, self.new).limit(0)
            return nothing.withColumn(MZ_DIFF, F.lit(0).cast("bigint"))
        if block.kind in ("linear", "partitioned"):
            return self._followed(block, moved, stored)
        if block.kind == "topk" and stored is not None:
            return self._top(block, stored)
        return self._again(block, stored)

    def _moved(self, child: Block | str) -> bool:
        names = (child,) if isinstance(child, str) else child.inputs
        return any(name in self.changed for name in names)

    def _followed(self, block: Block, moved: list[str], stored: DataFrame | None) -> DataFrame:
        by_part = {part.child for part in block.parts}
        terms = [self._term(block, part) for part in block.parts if part.child in moved]
        keyed = [name for name in moved if name not in by_part]
        if keyed:
            same = stored if not terms and block.output_key else None
            terms += self._partitions(block, keyed, same)
        return reduce(DataFrame.unionAll, terms)

    def _term(self, block: Block, part: Part) -> DataFrame:
        """What one child's changes give, with the children before it new and those after old."""
        frames: Frames = {}
        before = True
        for name, child in block.children.items():
            if name == part.child:
                frames[name] = self._changes(child)
                before = False
            else:
                frames[name] = self._side(child, self.new if before else self.old)
        found = reading.frame(self.live, part.sql, frames)
        return found.withColumn(MZ_DIFF, F.col(MZ_DIFF).cast("bigint"))

    def _changes(self, child: Block | str) -> DataFrame:
        return self.changed[child] if isinstance(child, str) else self.of(child)

    def _side(self, child: Block | str, inputs: Frames) -> DataFrame:
        return inputs[child] if isinstance(child, str) else whole.block(self.live, child, inputs)

    def _partitions(
        self, block: Block, keyed: list[str], stored: DataFrame | None
    ) -> list[DataFrame]:
        """The partitions that the children's changes touch: as they are now, less as they were.

        Children that `parts` follow are new on both sides: their changes are counted there.
        """
        touched = [self._term(block, part) for part in block.keys if part.child in keyed]
        keys = reduce(DataFrame.unionAll, [each.select(*block.key) for each in touched])
        affected = F.broadcast(keys.distinct())
        now = {name: self._side(child, self.new) for name, child in block.children.items()}
        made = self._restricted(block, now, affected)
        if stored is not None:
            gone = self._stored(block, stored, affected)
        else:
            sides = {name: self.old if name in keyed else self.new for name in block.children}
            before = {name: self._side(block.children[name], sides[name]) for name in sides}
            gone = self._restricted(block, before, affected)
        return [_times(made, 1), _times(gone, -1)]

    def _restricted(self, block: Block, frames: Frames, affected: DataFrame) -> DataFrame:
        return reading.frame(self.live, block.restricted, {**frames, AFFECTED: affected})

    def _stored(self, block: Block, stored: DataFrame, affected: DataFrame) -> DataFrame:
        """The view's own rows of the affected keys."""
        pairs = zip(block.output_key, block.key, strict=True)
        same = [stored[quoted(name)].eqNullSafe(affected[key]) for name, key in pairs]
        return stored.join(affected, same, "left_semi")

    def _again(self, block: Block, stored: DataFrame | None) -> DataFrame:
        before = stored if stored is not None else whole.block(self.live, block, self.old)
        made = _times(whole.block(self.live, block, self.new), 1)
        return made.unionAll(_times(before, -1))

    def _top(self, block: Block, stored: DataFrame) -> DataFrame:
        (child,) = block.children.values()
        found = incremental_top.first(self.live, block, stored, self._changes(child))
        return self._again(block, stored) if found is None else found


def _times(rows: DataFrame, count: int) -> DataFrame:
    return rows.withColumn(MZ_DIFF, F.lit(count).cast("bigint"))
