"""What is said over the SQL websockets, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from catalog.results import Batch
from console.errors import to_dict
from console.values import json_rows
from ingest.contract.relation import Relation
from ingest.errors import HeadraceError

REPORTED = (
    "application_name",
    "client_encoding",
    "datestyle",
    "integer_datetimes",
    "intervalstyle",
    "mz_version",
    "server_version",
    "standard_conforming_strings",
    "timezone",
)
"""Session variables that a client is told of at the beginning."""


class BadFrame(HeadraceError):
    """A message that is not understood."""

    sqlstate = "08P01"


@dataclass(frozen=True)
class Request:
    """A text, its parameters, and whether it must be one statement."""

    sql: str
    parameters: tuple[str | None, ...] = ()
    single: bool = False


def dumps(value: Any) -> str:
    """JSON without spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def frame(kind: str, payload: Any) -> str:
    """`{"type": .., "payload": ..}`."""
    return dumps({"type": kind, "payload": payload})


def object_of(text: str) -> dict[str, Any]:
    """A message as an object. Raises BadFrame."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadFrame("a message must be a JSON object")
    return found


def options_of(found: dict[str, Any]) -> dict[str, str]:
    """The session variables of a first message. Raises BadFrame."""
    options = found.get("options") or {}
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise BadFrame("options must be an object of texts")
    return options


def region_of(found: dict[str, Any]) -> str:
    """The region that a first message asks for, empty for none. Raises BadFrame."""
    region = found.get("region") or ""
    if not isinstance(region, str):
        raise BadFrame("region must be a text")
    return region


def requests_of(found: dict[str, Any]) -> list[Request]:
    """What a message asks for: `query`, or `queries` with parameters. Raises BadFrame."""
    text, several = found.get("query"), found.get("queries")
    if isinstance(text, str) and several is None:
        return [Request(text)]
    if text is None and isinstance(several, list):
        return [_one(entry) for entry in several]
    raise BadFrame("give either query or queries")


def _one(entry: Any) -> Request:
    sql = entry.get("query") if isinstance(entry, dict) else None
    given = entry.get("params", []) if isinstance(entry, dict) else None
    if not isinstance(sql, str) or not isinstance(given, list):
        raise BadFrame("each of queries has a query, and may have params")
    if not all(value is None or isinstance(value, str) for value in given):
        raise BadFrame("params are texts or null")
    return Request(sql, tuple(given), single=True)


def error_payload(error: HeadraceError, sql: str | None = None) -> dict[str, Any]:
    """A failure, without the fields it does not have."""
    told = to_dict(error, sql)
    return {name: value for name, value in told.items() if value not in (None, [], ())}


def row_frames(relation: Relation, batch: Batch) -> list[str]:
    """A Row frame per row; readers of the same rows share them."""

    def made(found: Batch) -> list[str]:
        return [frame("Row", row) for part in found.parts for row in rows_of(relation, part)]

    return batch.once("row frames", made)


def rows_text(relation: Relation, batch: Batch) -> str:
    """All rows as one message, `{"rows": [..]}`; readers of the same rows share it."""

    def made(found: Batch) -> str:
        return dumps({"rows": [row for part in found.parts for row in rows_of(relation, part)]})

    return batch.once("rows", made)


def rows_of(relation: Relation, part: pa.Table) -> list[Sequence[Any]]:
    """The rows' JSON values."""
    return json_rows(relation, part)


def slices(relation: Relation, data: pa.Table, size: int = 1000) -> Iterator[list[Sequence[Any]]]:
    """A result's rows, some at a time."""
    for start in range(0, data.num_rows, size):
        yield json_rows(relation, data.slice(start, size))
