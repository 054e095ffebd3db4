"""A shard's rows of some keys, with their hidden columns, read in this process.

A step of few changes asks for few groups. Spark takes half a second to plan and make what reading
the files of a small base takes a hundredth of.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ingest import delta
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.tables import told, view_hidden, view_tail
from ingest.tables.schema import DIFF
from ingest.tables.view_versions import Hidden, Known

_MOST_ROWS = 1_000_000
_MOST_BYTES = 64 * 2**20
_MOST_FILES = 64
_MISSING, _NONE = "__missing_", "__none_"


def rows(
    plane: Plane, known: Known, held: Relation, hidden: Hidden, keys: pa.Table
) -> pa.Table | None:
    """The newest rows that have one of the `keys` (in the order of the shard's key): all columns
    by place (`c0`, ..), the hidden ones behind. None where it takes Spark to know them."""
    width = len(held.columns) + len(hidden.names)
    names = [f"c{place}" for place in hidden.key]
    steps = [step for step in known.steps if step.time > known.bases[-1].time and step.rows]
    try:
        wanted = keys.rename_columns(names)
        base = _base(plane, known, width)
        tail = view_tail.raw(plane, known, steps) if steps else None
        if base is None or (steps and tail is None):
            return None
        found = _of_keys(base, wanted, "left semi")
        if tail is None:
            return found
        newest = view_hidden.few_newest(tail, hidden)
        if newest is None:
            return None
        newest = _of_keys(newest, wanted, "left semi")
        kept = _of_keys(found, newest.select(names), "left anti")
        there = newest.filter(pc.greater_equal(newest[DIFF], 0)).select(base.column_names)
        return pa.concat_tables([kept, there.cast(kept.schema)])
    # What cannot be read, compared or cast here Spark can, or it says why not.
    except (OSError, KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def every(plane: Plane, known: Known, held: Relation) -> pa.Table | None:
    """All rows of a shard after its newest step, once each: the columns by place (`c0`, ..), and
    how many there are of it as mz_diff. None where it takes Spark to know them."""
    if known.hidden is not None or known.columns != len(held.columns):
        return None
    steps = [step for step in known.steps if step.time > known.bases[-1].time and step.rows]
    try:
        base = _base(plane, known, known.columns)
        tail = view_tail.in_memory(plane, known, steps) if steps else None
        if base is None or (steps and tail is None):
            return None
        same_by_bytes(base)
        found = base.append_column(DIFF, pa.repeat(pa.scalar(1, pa.int64()), base.num_rows))
        if tail is not None:
            found = pa.concat_tables([found, tail.select(found.column_names).cast(found.schema)])
        return told.consolidated(found)
    # What cannot be read, compared or cast here Spark can, or it says why not.
    except (OSError, KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def _base(plane: Plane, known: Known, width: int) -> pa.Table | None:
    """The newest base by place; None when it is large, or its files have other columns."""
    base = known.bases[-1]
    if base.rows > _MOST_ROWS or base.bytes > _MOST_BYTES:
        return None
    path = delta.base_path(plane, known.shard)
    files = delta.live_files(path, base.version)
    if not files or len(files) > _MOST_FILES:
        return None
    read = (delta.read_file(path, name) for name in files)
    parts = [pq.read_table(file, coerce_int96_timestamp_unit="us") for file in read]
    if any(part.num_columns != width for part in parts):
        return None
    places = [f"c{place}" for place in range(width)]
    whole = pa.concat_tables([part.rename_columns(places) for part in parts])
    return whole if whole.num_rows == base.rows else None


def _of_keys(found: pa.Table, keys: pa.Table, how: str) -> pa.Table:
    """The rows of `found` that have, or have not, one of the `keys`; null is equal to null.

    Raises ArrowTypeError where values of the two could be equal in another way than byte by byte.
    """
    names = keys.column_names
    same_by_bytes(found.select(names))
    own = keys.cast(pa.schema([found.schema.field(name) for name in names]))
    places = pa.array(np.arange(found.num_rows))
    left = matched(found.select(names)).append_column("__place", places)
    joined = left.join(matched(own), left.column_names[:-1], join_type=how, use_threads=False)
    return found.take(joined["__place"].combine_chunks())


def same_by_bytes(keys: pa.Table) -> None:
    """Raises ArrowTypeError for keys that may be equal in another way than byte by byte."""
    if any(pa.types.is_floating(kind) for kind in keys.schema.types):
        message = "numbers that are no texts"
        raise pa.ArrowTypeError(message)


def matched(keys: pa.Table) -> pa.Table:
    """The keys as a join takes them, to which no null is equal to another.

    Raises ArrowNotImplementedError for types that are no keys here.
    """
    columns: dict[str, pa.ChunkedArray] = {}
    for name in keys.column_names:
        values = keys[name]
        columns[_MISSING + name] = pc.is_null(values)
        columns[_NONE + name] = pc.fill_null(values, _blank(values.type))
    return pa.table(columns)


def _blank(kind: pa.DataType) -> pa.Scalar:
    """Some value of the type. Raises ArrowNotImplementedError for a type that is no key here."""
    if pa.types.is_string(kind):
        return pa.scalar("", kind)
    if pa.types.is_boolean(kind):
        return pa.scalar(value=False)
    if pa.types.is_decimal(kind):
        return pa.scalar(Decimal(0), kind)
    return pa.scalar(0, pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)
