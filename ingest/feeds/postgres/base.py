"""A table's first version: the snapshot's files become a Delta table in one commit.

The commit names exactly the files of one finished attempt, so that neither a former attempt's
leftovers nor a forgotten task's late ones can get into the table.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyarrow import fs

from ingest.commits import located
from ingest.errors import Transient
from ingest.feeds.copying.task import Copy, Field

_ODD = set(" ,;{}()\n\t=")
_JSON_TYPES = {"int": "integer", "smallint": "short", "bigint": "long"}
_COUNTED = {"smallint", "int", "bigint"}


@dataclass(frozen=True)
class Written:
    """What a first version holds: rows, and the bytes of its files."""

    rows: int
    bytes: int


@dataclass(frozen=True)
class _File:
    name: str
    size: int
    metadata: pq.FileMetaData


def odd_names(names: Sequence[str]) -> bool:
    """Whether a name needs Delta's column mapping, because Parquet's tools stumble over it."""
    return any(set(name) & _ODD for name in names)


def write(root: str, attempt: str, job: Copy, metadata: str) -> Written:
    """Make the Delta table at `root` from the files of `attempt` (a folder in it).

    Raises Transient when the table is there already: somebody else made it.
    """
    system, folder = located(root)
    files = [_file(system, folder, f"{attempt}/{job.file(n)}") for n in range(len(job.queries))]
    kept = [file for file in files if file.metadata.num_rows]
    actions = [
        _information(kept, metadata),
        {"protocol": _protocol(job.fields)},
        {"metaData": _table(job.fields)},
        *({"add": _added(file, job.fields)} for file in kept),
    ]
    text = "\n".join(json.dumps(action, separators=(",", ":")) for action in actions)
    system.create_dir(f"{folder}/_delta_log")
    _put(system, f"{folder}/_delta_log/{0:020d}.json", text.encode())
    return Written(sum(file.metadata.num_rows for file in kept), sum(file.size for file in kept))


def _file(system: fs.FileSystem, folder: str, name: str) -> _File:
    with system.open_input_file(f"{folder}/{name}") as opened:
        return _File(name, opened.size(), pq.read_metadata(opened))


def _information(files: list[_File], metadata: str) -> dict[str, Any]:
    metrics = {
        "numFiles": str(len(files)),
        "numOutputRows": str(sum(file.metadata.num_rows for file in files)),
        "numOutputBytes": str(sum(file.size for file in files)),
    }
    return {
        "commitInfo": {
            "timestamp": _now(),
            "operation": "WRITE",
            "operationParameters": {"mode": "Append", "partitionBy": "[]"},
            "isBlindAppend": True,
            "operationMetrics": metrics,
            "userMetadata": metadata,
            "engineInfo": "headrace",
            "txnId": str(uuid.uuid4()),
        }
    }


def _protocol(fields: Sequence[Field]) -> dict[str, Any]:
    features = []
    if odd_names([field.name for field in fields]):
        features.append("columnMapping")
    if any("timestamp_ntz" in field.spark for field in fields):
        features.append("timestampNtz")
    if not features:
        return {"minReaderVersion": 1, "minWriterVersion": 2}
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": features,
        "writerFeatures": [*features, "appendOnly", "invariants"],
    }


def _table(fields: Sequence[Field]) -> dict[str, Any]:
    mapped = odd_names([field.name for field in fields])
    columns = [
        {
            "name": field.name,
            "type": _json_type(field.spark),
            "nullable": True,
            "metadata": _mapping(number, field) if mapped else {},
        }
        for number, field in enumerate(fields, 1)
    ]
    configuration = {"delta.checkpointInterval": "100"}
    if mapped:
        configuration |= {
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": str(len(fields)),
        }
    return {
        "id": str(uuid.uuid4()),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": columns}),
        "partitionColumns": [],
        "configuration": configuration,
        "createdTime": _now(),
    }


def _mapping(number: int, field: Field) -> dict[str, Any]:
    return {
        "delta.columnMapping.id": number,
        "delta.columnMapping.physicalName": field.physical,
    }


def _json_type(spark: str) -> str | dict[str, Any]:
    if spark.startswith("array<"):
        element = _json_type(spark[6:-1])
        return {"type": "array", "elementType": element, "containsNull": True}
    return _JSON_TYPES.get(spark, spark)


def _added(file: _File, fields: Sequence[Field]) -> dict[str, Any]:
    return {
        "path": file.name,
        "partitionValues": {},
        "size": file.size,
        "modificationTime": _now(),
        "dataChange": True,
        "stats": json.dumps(_statistics(file.metadata, fields)),
    }


def _statistics(metadata: pq.FileMetaData, fields: Sequence[Field]) -> dict[str, Any]:
    """Rows, and the extremes of whole-number columns: enough to skip files by key."""
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    for index, field in enumerate(fields):
        if field.spark not in _COUNTED:
            continue
        groups = [metadata.row_group(g).column(index) for g in range(metadata.num_row_groups)]
        found = [group.statistics for group in groups if group.statistics is not None]
        known = [one for one in found if one.has_min_max]
        if known and len(found) == len(groups):
            low[field.physical] = min(one.min for one in known)
            high[field.physical] = max(one.max for one in known)
    return {"numRecords": metadata.num_rows, "minValues": low, "maxValues": high}


def _put(system: fs.FileSystem, path: str, content: bytes) -> None:
    """Create the file whole, or not at all when it is there."""
    if isinstance(system, fs.LocalFileSystem):
        target = Path(path)
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=".")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        try:
            target.hardlink_to(draft)
        except FileExistsError:
            raise _there() from None
        finally:
            Path(draft).unlink()
        return
    if system.get_file_info(path).type != fs.FileType.NotFound:
        raise _there()
    with system.open_output_stream(path) as stream:
        stream.write(content)


def _there() -> Transient:
    return Transient("another reader has made the table's first version", sqlstate="40001")


def _now() -> int:
    return int(time.time() * 1000)
