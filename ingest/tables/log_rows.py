"""A log's rows in memory: which are of one key, the first and last of it, which lack values.

A tail may have hundreds of thousands of rows, each with its key as texts; to go through them one
by one takes Python longer than all else that a step or a query does with them, and nothing else
runs in the process meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ingest.tables import arrow_cast

Places = npt.NDArray[np.int64]
"""Places in a table, from 0."""
NOWHERE = -1


@dataclass(frozen=True)
class Turns:
    """What became of keys at the times of a log, one for each key and time: the places of the
    `first` and the `last` row, and of the key's last row of an earlier time, or `NOWHERE`."""

    first: Places
    last: Places
    earlier: Places


def in_order(raw: pa.Table) -> pa.Table:
    """The rows by time and place in it; they mostly are so, and rows of texts are slow to copy."""
    times, places = _array(raw["time"]), _array(raw["seq"])
    later = times[1:] > times[:-1]
    behind = (times[1:] == times[:-1]) & (places[1:] >= places[:-1])
    if bool((later | behind).all()):
        return raw
    return raw.sort_by([("time", "ascending"), ("seq", "ascending")])


def where(raw: pa.Table, there: pa.ChunkedArray) -> pa.Table:
    """The rows that are `there`, as they are when all of them are."""
    return raw if pc.all(there, skip_nulls=False).as_py() else raw.filter(there)


def taken(rows: pa.ChunkedArray, places: Places) -> pa.ChunkedArray:
    """The rows at these places, as they are when it is all of them in their order."""
    return rows if np.array_equal(places, np.arange(len(rows))) else rows.take(places)


def left_out(raw: pa.Table) -> pa.ChunkedArray:
    """Whether each row lacks values that upstream left out."""
    return pc.greater(pc.fill_null(pc.list_value_length(raw["unchanged"]), 0), 0)


def newest(raw: pa.Table) -> tuple[Places, bool]:
    """The places of each key's last row in an ordered tail, as far as no TRUNCATE comes after it,
    and whether there was one."""
    truncates = np.flatnonzero(_array(pc.equal(raw["op"], "t")))
    begin = int(truncates[-1]) + 1 if truncates.size else 0
    keys, count = _numbers(raw["key"].slice(begin))
    found = np.full(count, NOWHERE, np.int64)
    # Of several that are put in one place the last stays.
    found[keys] = np.arange(keys.size)
    return begin + np.sort(found), truncates.size > 0


def first(raw: pa.Table) -> Places:
    """The place of each key's first row."""
    keys, count = _numbers(raw["key"])
    found = np.full(count, NOWHERE, np.int64)
    found[keys[::-1]] = np.arange(keys.size)[::-1]
    return np.sort(found)


def turns(raw: pa.Table, after: int) -> Turns:
    """What an ordered tail does to each key at each time > `after` (ms)."""
    keys, _ = _numbers(raw["key"])
    order = np.argsort(keys, kind="stable")
    times = _array(raw["time"])[order]
    same = keys[order][1:] == keys[order][:-1]
    together = same & (times[1:] == times[:-1])
    begins, ends = np.ones(keys.size, np.bool_), np.ones(keys.size, np.bool_)
    begins[1:], ends[:-1] = ~together, ~together
    earlier = np.full(keys.size, NOWHERE, np.int64)
    earlier[1:][same] = order[:-1][same]
    late = times[begins] > after
    return Turns(order[begins][late], order[ends][late], earlier[begins][late])


def _numbers(keys: pa.ChunkedArray) -> tuple[Places, int]:
    """A number from 0 for each key, the same for the same texts, and how many there are."""
    whole = keys.combine_chunks()
    width = pc.max(pc.list_value_length(whole)).as_py() or 0
    found, count = np.zeros(len(whole), np.int64), min(len(whole), 1)
    for place in range(width):
        texts = arrow_cast.cells(whole, place).dictionary_encode(null_encoding="encode")
        both = found * len(texts.dictionary) + _array(texts.indices)
        if place == 0:
            found, count = both, len(texts.dictionary)
        else:
            known, found = np.unique(both, return_inverse=True)
            count = known.size
    return found, count


def _array(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return np.asarray(whole.to_numpy(zero_copy_only=False))
