"""pgoutput, protocol version 1, as bytes come: messages in, changes out. Values stay text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import Final

from ingest.errors import Terminal


@dataclass(frozen=True)
class RelationColumn:
    """A column of a Relation message; `key` says that the replica identity covers it."""

    name: str
    type_oid: int
    modifier: int
    key: bool


@dataclass(frozen=True)
class Relation:
    """A table as upstream had it when it wrote the changes that follow."""

    oid: int
    namespace: str
    name: str
    identity: str
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True)
class Begin:
    """A transaction's first message; `final` is the position of its commit record."""

    final: int
    timestamp: int


@dataclass(frozen=True)
class Commit:
    """A transaction's last message; `end` is the position after its commit record, `timestamp`
    upstream's clock in microseconds since 2000."""

    final: int
    end: int
    timestamp: int


@dataclass(frozen=True)
class Truncate:
    """TRUNCATE of several tables at once."""

    oids: tuple[int, ...]


Cells = list["str | None"]


@dataclass(slots=True)
class Row:
    """One row's change: kind i, u or d; `old` is the whole row if `whole`, else its key only.

    `unchanged` lists the indices of `new` whose value upstream left out.
    """

    kind: str
    oid: int
    old: Cells | None
    new: Cells | None
    unchanged: list[int] | None = None
    whole: bool = False


Message = Begin | Commit | Relation | Truncate | Row | None

_SHORT: Final = Struct(">H").unpack_from
_INT: Final = Struct(">I").unpack_from
_COLUMN: Final = Struct(">Ii").unpack_from
_BEGIN: Final = Struct(">QqI").unpack_from
_COMMIT: Final = Struct(">QQq").unpack_from
_NULL, _TEXT, _UNCHANGED = b"ntu"
_NEW, _OLD = b"NO"


def decode(data: bytes) -> Message:
    """One message; None for those that carry nothing here (types, origins, logical messages).

    Raises Terminal for a message of a protocol that was not asked for.
    """
    kind = data[0]
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(data)
    if kind in b"YOM":
        return None
    message = f"unknown replication message {chr(kind)!r}"
    raise Terminal(message)


def _cells(data: bytes, at: int) -> tuple[Cells, list[int] | None, int]:
    count = _SHORT(data, at)[0]
    at += 2
    cells: Cells = []
    unchanged: list[int] | None = None
    for index in range(count):
        kind = data[at]
        if kind == _TEXT:
            end = at + 5 + _INT(data, at + 1)[0]
            cells.append(data[at + 5 : end].decode("utf-8", "replace"))
            at = end
        elif kind == _NULL:
            cells.append(None)
            at += 1
        elif kind == _UNCHANGED:
            unchanged = [*(unchanged or ()), index]
            cells.append(None)
            at += 1
        else:
            raise Terminal("upstream sent a binary value that was not asked for")
    return cells, unchanged, at


def _insert(data: bytes) -> Row:
    return Row("i", _INT(data, 1)[0], None, _cells(data, 6)[0])


def _update(data: bytes) -> Row:
    oid, kind = _INT(data, 1)[0], data[5]
    if kind == _NEW:
        new, unchanged, _ = _cells(data, 6)
        return Row("u", oid, None, new, unchanged)
    old, _, at = _cells(data, 6)
    new, unchanged, _ = _cells(data, at + 1)
    whole = kind == _OLD
    if whole and unchanged:
        for index in unchanged:
            new[index] = old[index]
        unchanged = None
    return Row("u", oid, old, new, unchanged, whole)


def _delete(data: bytes) -> Row:
    return Row("d", _INT(data, 1)[0], _cells(data, 6)[0], None, None, data[5] == _OLD)


def _begin(data: bytes) -> Begin:
    final, timestamp, _ = _BEGIN(data, 1)
    return Begin(final, timestamp)


def _commit(data: bytes) -> Commit:
    return Commit(*_COMMIT(data, 2))


def _truncate(data: bytes) -> Truncate:
    count = _INT(data, 1)[0]
    return Truncate(Struct(f">{count}I").unpack_from(data, 6))


def _relation(data: bytes) -> Relation:
    namespace, at = _string(data, 5)
    name, at = _string(data, at)
    identity, count = chr(data[at]), _SHORT(data, at + 1)[0]
    at += 3
    columns = []
    for _ in range(count):
        key = bool(data[at] & 1)
        column, at = _string(data, at + 1)
        type_oid, modifier = _COLUMN(data, at)
        columns.append(RelationColumn(column, type_oid, modifier, key))
        at += 8
    return Relation(_INT(data, 1)[0], namespace or "pg_catalog", name, identity, tuple(columns))


def _string(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode(), end + 1


_READERS: dict[int, Callable[[bytes], Message]] = {
    ord("I"): _insert,
    ord("U"): _update,
    ord("D"): _delete,
    ord("B"): _begin,
    ord("C"): _commit,
    ord("R"): _relation,
    ord("T"): _truncate,
}
