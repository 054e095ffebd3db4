"""What a step of a view knows in this process, so that Spark need not be asked for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from ingest.contract.views import MZ_DIFF, Block, Lookup, Part
from ingest.tables import told
from ingest.tables.net import Net
from ingest.views.conditions import holding

_MOST = 2_000


@dataclass(frozen=True)
class Near:
    """`rows` gives the stored rows of some keys, which are in the key's order, by place (`c0`,
    ..), and `every` all of them, once each, with how many there are as mz_diff; None when only
    Spark can tell, which it is for keys if not `keyed`. `frame` makes one of such rows, `groups`
    one of rows by place that are of some types. `moves` are the inputs' changes, by input. What is
    made of the same `view` has the same columns at each step. `changes` have the key of each
    change, the values that are plain columns, and mz_diff, as the block's texts name them; None
    when Spark is to find them. The last `hidden` of the stored rows' columns are. `look` gives the
    rows of an input that did not change: of some keys, whose columns are as it calls them, these
    and some other columns; None when only Spark can tell."""

    rows: Callable[[pa.Table], pa.Table | None]
    every: Callable[[], pa.Table | None]
    frame: Callable[[pa.Table], DataFrame]
    groups: Callable[[pa.Table, StructType], DataFrame]
    moves: Mapping[str, Net]
    view: Hashable
    look: Callable[[str, pa.Table, Sequence[str]], pa.Table | None]
    hidden: int = 0
    keyed: bool = True
    changes: pa.Table | None = None

    def of(self, block: Block, parts: Sequence[Part]) -> Near:
        """The same with what changes of the `parts` touch, when it is known."""
        found = _together([self._keyed(block, part) for part in parts])
        return replace(self, changes=None if found is None else netted(found))

    def rows_of(self, block: Block, moved: Sequence[str]) -> pa.Table | None:
        """What changes of the children `moved` give of a linear block's rows: its columns and
        mz_diff, which may not be consolidated; None when Spark is to find them."""
        if block.kind != "linear":
            return None
        parts = [part for part in block.parts if part.child in moved]
        return _together([self._whole(block, part) for part in parts])

    def _keyed(self, block: Block, part: Part) -> pa.Table | None:
        if part.values is None or not part.copied:
            return None
        pairs = dict(zip(block.key, part.copied, strict=True)) | dict(part.values)
        return self._plain(block, part, pairs)

    def _whole(self, block: Block, part: Part) -> pa.Table | None:
        """Branches of a UNION ALL may each have names of their own."""
        columns = [column for _, column in part.values or ()]
        if len(columns) < len(block.columns):
            return None
        pairs = dict(zip(block.columns, columns, strict=True))
        return self._plain(block, part, pairs)

    def _plain(self, block: Block, part: Part, pairs: Mapping[str, str]) -> pa.Table | None:
        child = block.children[part.child]
        moved = self.moves.get(child) if isinstance(child, str) else None
        if moved is None or moved.table is None:
            return None
        table, diffs = moved.table, moved.diffs
        if part.lookups:
            joined = self._joined(block, part.lookups, table.append_column(MZ_DIFF, diffs))
            if joined is None:
                return None
            table, diffs = joined, joined[MZ_DIFF]
        there = holding(table, part.where)
        if there is None:
            return None
        arrays = [table[column] for column in pairs.values()]
        return pa.table([*arrays, diffs], names=[*pairs, MZ_DIFF]).filter(there)

    def _joined(self, block: Block, lookups: Sequence[Lookup], rows: pa.Table) -> pa.Table | None:
        """The rows with the columns of the lookups behind them, less those that find none."""
        for lookup in lookups:
            child = block.children[lookup.child]
            # A column of a user's may be called as those that are looked up are.
            if {name for name, _ in lookup.columns} & set(rows.column_names):
                return None
            keys = rows.select([column for column, _ in lookup.on])
            keys = keys.rename_columns([name for _, name in lookup.on])
            columns = [column for _, column in lookup.columns]
            try:
                asked = keys.group_by(keys.column_names).aggregate([]).drop_null()
                found = self.look(child, asked, columns) if isinstance(child, str) else None
                if found is None:
                    return None
                rows = _beside(rows, found, lookup)
            # Keys that Arrow does not join by, or that are asked for twice.
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, KeyError):
                return None
        return rows

    def schema(self, what: str, make: Callable[[], DataFrame]) -> StructType:
        """The columns of the frame that is `what` at each step of the view: Spark says it once."""
        place = (self.view, what)
        with _lock:
            found = _schemas.get(place)
        if found is None:
            found = make().schema
            with _lock:
                _schemas[place] = found
                while len(_schemas) > _MOST:
                    _schemas.popitem(last=False)
        return found


def _beside(rows: pa.Table, found: pa.Table, lookup: Lookup) -> pa.Table:
    """Each of the rows beside the one that was found for it."""
    place = "__place"
    keys = found.select([name for _, name in lookup.on])
    own = rows.select([column for column, _ in lookup.on]).rename_columns(keys.column_names)
    left = own.append_column(place, pa.array(np.arange(rows.num_rows)))
    right = keys.append_column("__found", pa.array(np.arange(found.num_rows)))
    both = left.join(right, keys.column_names, join_type="inner", use_threads=False)
    taken = rows.take(both[place].combine_chunks())
    more = found.take(both["__found"].combine_chunks())
    for name, column in lookup.columns:
        taken = taken.append_column(name, more[column])
    return taken


def netted(changes: pa.Table) -> pa.Table:
    """Changes without those that cancel out; as they are where only Spark tells which ones do."""
    try:
        return told.consolidated(changes)
    # Arrow does not group by values of every type.
    except pa.ArrowNotImplementedError:
        return changes


def _together(found: Sequence[pa.Table | None]) -> pa.Table | None:
    """The columns that all have; None where one is not known."""
    known = [changes for changes in found if changes is not None]
    if not known or len(known) < len(found):
        return None
    names = [name for name in known[0].column_names if all(name in t.column_names for t in known)]
    try:
        return pa.concat_tables([table.select(names) for table in known])
    # Branches of a UNION ALL may be of several types until Spark makes them one.
    except pa.ArrowInvalid:
        return None


_schemas: OrderedDict[Hashable, StructType] = OrderedDict()
_lock = threading.Lock()
