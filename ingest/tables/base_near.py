"""A base's rows of some keys, read in this process.

Under the default replica identity upstream does not send old rows, so a step asks a whole base for
the few that changed. To go through some columns of ten million rows takes Arrow half a second;
Spark, which may be elsewhere, takes several.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from ingest import commits, delta
from ingest.contract.commands import Input
from ingest.contract.plane import Plane

NUMBER = "__n"
_PLACE = "__place"
_MOST_BYTES = 2 * 2**30
_MOST_FILES = 1_000
_MOST_FOUND = 1_000_000
_READAHEAD = 2
"""Batches that Arrow reads ahead: what is in memory at once."""
_MOST_FLAGS = 2**26
_FORMAT = ds.ParquetFileFormat(
    read_options=ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
)


def rows(
    plane: Plane, source: Input, version: int, keys: pa.Table, wanted: pa.Schema
) -> pa.Table | None:
    """The rows of a base's version that have one of the `keys`: the columns `wanted`, and as `__n`
    the place of the row's key in `keys`, whose columns are in the key's order and not null.

    None where it takes Spark to know them: the base is large, or its files name or type their
    columns otherwise.
    """
    path = delta.base_path(plane, source.shard)
    size, files = delta.bytes_at_most(path), delta.live_files(path, version)
    if size is None or size > _MOST_BYTES or files is None or len(files) > _MOST_FILES:
        return None
    asked = keys.rename_columns(list(source.key))
    system, root = commits.located(path)
    found: list[pa.Table] = []
    try:
        shape = pa.unify_schemas([asked.schema, wanted])
        values = _Asked(asked)
        for name in files:
            found.append(_of_file(system, f"{root}/{name}", values, shape))
            if sum(part.num_rows for part in found) > _MOST_FOUND:
                return None
        whole = pa.concat_tables([shape.empty_table(), *found])
        return _numbered(whole, asked).select([*wanted.names, NUMBER])
    # What cannot be read, compared or cast here Spark can, or it says why not.
    except (OSError, KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def _of_file(system: fs.FileSystem, name: str, asked: _Asked, shape: pa.Schema) -> pa.Table:
    """A file's rows each of whose key columns has one of the values that are asked for."""
    file = ds.dataset(name, format=_FORMAT, filesystem=system)
    within = asked.within(file.schema)
    found: list[pa.RecordBatch] = []
    for fragment in file.get_fragments(filter=within):
        batches = fragment.subset(filter=within, schema=file.schema).to_batches(
            columns=shape.names,
            filter=None if asked.flagged else within,
            batch_readahead=_READAHEAD,
            fragment_readahead=1,
        )
        found += map(asked.of, batches)
    return pa.Table.from_batches(found, _only(file.schema, shape.names)).cast(shape)


def _only(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in names])


class _Asked:
    """The values of each column of the keys that are asked for. Whole numbers that lie close have
    a flag each, which takes a tenth of the time of looking them up."""

    def __init__(self, keys: pa.Table) -> None:
        self._keys = keys
        flags = {name: _flags(keys[name]) for name in keys.column_names}
        self._flags = {name: each for name, each in flags.items() if each is not None}

    @property
    def flagged(self) -> bool:
        """Whether all values have flags: then no row need be tried by Arrow, which would copy
        those that pass."""
        return self._flags.keys() == set(self._keys.column_names)

    def within(self, schema: pa.Schema) -> ds.Expression:
        """What Arrow tells: the ends of the values, which leave out row groups by their
        statistics, and the values that have no flags."""
        terms: list[ds.Expression] = []
        for name in self._keys.column_names:
            values, field = self._keys[name].cast(schema.field(name).type), ds.field(name)
            ends = pc.min_max(values)
            terms += [field >= ends["min"], field <= ends["max"]]
            if name not in self._flags:
                terms.append(field.isin(values.combine_chunks()))
        return reduce(operator.and_, terms)

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Those of the rows that have values with flags."""
        for name, (least, flags) in self._flags.items():
            values = rows.column(name).cast(pa.int64()).to_numpy()
            among = (values >= least) & (values < least + flags.size)
            places = np.flatnonzero(among)
            rows = rows.take(pa.array(places[flags[values[places] - least]]))
        return rows


def _flags(values: pa.ChunkedArray) -> tuple[int, npt.NDArray[np.bool_]] | None:
    """The least of the values, and from there whether each whole number is one of them; None for
    other values, or when they are too far apart."""
    if not pa.types.is_signed_integer(values.type):
        return None
    least, most = (end.as_py() for end in pc.min_max(values).values())
    if most - least > _MOST_FLAGS:
        return None
    flags = np.zeros(most - least + 1, np.bool_)
    flags[values.cast(pa.int64()).to_numpy() - least] = True
    return least, flags


def _numbered(found: pa.Table, asked: pa.Table) -> pa.Table:
    """The rows whose whole key is asked for, each with its key's place."""
    left, right = (
        _keys(found, asked.column_names, _PLACE),
        _keys(asked, asked.column_names, NUMBER),
    )
    names = left.column_names[:-1]
    joined = left.join(right, names, join_type="inner", use_threads=False)
    taken = found.take(joined[_PLACE].combine_chunks())
    return taken.append_column(NUMBER, joined[NUMBER])


def _keys(rows: pa.Table, names: Sequence[str], number: str) -> pa.Table:
    keys = rows.select(names).rename_columns([f"k{place}" for place in range(len(names))])
    return keys.append_column(number, pa.array(np.arange(rows.num_rows)))
