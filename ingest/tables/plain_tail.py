"""A plain table's small changes, read from the files of its commits without Spark.

A commit that changed rows has them in files of their own, because the table records its changes;
one that only added rows has them in its data files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ingest import delta
from ingest.commits import Version
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import plain_versions, schema
from ingest.tables.schema import DIFF, TIME

_MOST_ROWS = 50_000
_MOST_FILES = 50
_KIND = "_change_type"


def in_memory(plane: Plane, source: Input, after: int, upto: int) -> pa.Table | None:
    """Every change with `after` < time <= `upto` (ms): columns by place (`c0`, ..), the time and
    mz_diff, not consolidated. None where it takes Spark to know them."""
    path = delta.base_path(plane, source.shard)
    known = delta.versions(path)
    times = plain_versions.between(known, after, upto)
    if not plain_versions.recorded(known) or schema.properties(source.relation):
        return None
    wanted = [version for version in known if version.number in times]
    if not _small(wanted):
        return None
    try:
        parts = [_part(path, version, source) for version in wanted if _files(version)]
        return _stamped(parts, times)
    except (FileNotFoundError, KeyError, pa.ArrowInvalid):
        return None


def _stamped(parts: Sequence[tuple[int, pa.Table]], times: Mapping[int, int]) -> pa.Table | None:
    if sum(part.num_rows for _, part in parts) > _MOST_ROWS:
        return None
    stamped = [
        part.append_column(TIME, pa.repeat(pa.scalar(times[number], pa.int64()), part.num_rows))
        for number, part in parts
    ]
    return pa.concat_tables(stamped).combine_chunks() if stamped else None


def _small(versions: Sequence[Version]) -> bool:
    whole = all(version.recorded or not version.removes for version in versions)
    files = sum(len(_files(version)) for version in versions)
    return whole and files <= _MOST_FILES


def _files(version: Version) -> tuple[str, ...]:
    return version.recorded or version.added


def _part(path: str, version: Version, source: Input) -> tuple[int, pa.Table]:
    tables = [_file(path, name, source) for name in _files(version)]
    return version.number, pa.concat_tables(tables)


def _file(path: str, name: str, source: Input) -> pa.Table:
    """A file's rows. Raises KeyError for one that is too large."""
    content = delta.read_file(path, name)
    if pq.read_metadata(content).num_rows > _MOST_ROWS:
        raise KeyError(name)
    content.seek(0)
    found = pq.read_table(content, coerce_int96_timestamp_unit="us")
    places = [f"c{number}" for number in range(len(source.relation.columns))]
    rows = found.select(list(source.relation.names)).rename_columns(places)
    return rows.append_column(DIFF, _diffs(found))


def _diffs(found: pa.Table) -> pa.ChunkedArray:
    if _KIND not in found.column_names:
        return pa.chunked_array([pa.repeat(pa.scalar(1, pa.int64()), found.num_rows)])
    came = pc.is_in(found[_KIND], pa.array(["insert", "update_postimage"]))
    return pc.if_else(came, pa.scalar(1, pa.int64()), pa.scalar(-1, pa.int64()))
