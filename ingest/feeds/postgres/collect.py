"""Whole upstream transactions, gathered into batches for the log."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ingest.feeds.log import LOG_ROWS
from ingest.feeds.postgres.decoder import Cells, Row
from ingest.feeds.postgres.layout import Layout
from ingest.feeds.spool import Folder, Spool, Spooled

_CHUNK = 50_000


@dataclass(frozen=True)
class Batch:
    """Whole transactions, the last of which ends at `upto`; `counts` is rows by reference."""

    rows: pa.Table | Spooled
    upto: int
    counts: dict[str, int]

    @property
    def size(self) -> int:
        """Rows."""
        return sum(self.counts.values())


@dataclass
class _Rows:
    reference: list[int] = field(default_factory=list)
    op: list[str] = field(default_factory=list)
    key: list[Cells | None] = field(default_factory=list)
    before: list[Cells | None] = field(default_factory=list)
    after: list[Cells | None] = field(default_factory=list)
    unchanged: list[list[int] | None] = field(default_factory=list)
    position: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.op)

    def add(
        self,
        kind: tuple[int, str],
        key: Cells | None,
        before: Cells | None,
        after: Cells | None,
        unchanged: list[int] | None = None,
    ) -> None:
        self.reference.append(kind[0])
        self.op.append(kind[1])
        self.key.append(key)
        self.before.append(before)
        self.after.append(after)
        self.unchanged.append(unchanged)

    def take_over(self, other: _Rows, position: int) -> None:
        self.reference += other.reference
        self.op += other.op
        self.key += other.key
        self.before += other.before
        self.after += other.after
        self.unchanged += other.unchanged
        self.position += [position] * len(other)

    def table(self, first: int = 0) -> pa.Table:
        count = len(self)
        columns = {
            "seq": range(first, first + count),
            "reference": self.reference,
            "op": self.op,
            "key": self.key,
            "before": self.before,
            "after": self.after,
            "unchanged": self.unchanged,
            "position": self.position or [0] * count,
        }
        return pa.table(
            [pa.array(columns[column.name], column.type) for column in LOG_ROWS], schema=LOG_ROWS
        )


class Collector:
    """Takes a stream's changes in order, gives batches out. A transaction is in one batch whole;
    one that is too large for memory goes through the spool and is a batch of its own.

    `layouts` says which references are logged, and how; it may change between changes.
    """

    def __init__(self, layouts: Mapping[int, Layout], spool: Spool) -> None:
        self._layouts = layouts
        self._spool = spool
        self._ready = _Rows()
        self._upto = 0
        self._open = _Rows()
        self._folder: Folder | None = None
        self._spooled: Counter[int] = Counter()
        self._closed: deque[Batch] = deque()

    @property
    def waiting(self) -> int:
        """Rows of whole transactions that no batch has yet."""
        return len(self._ready) + sum(batch.size for batch in self._closed)

    @property
    def inside(self) -> bool:
        """Whether rows of an unfinished transaction are held."""
        return len(self._open) > 0 or self._folder is not None

    def row(self, row: Row) -> str | None:
        """Take one row's change; answers why its tables cannot go on with it, or None."""
        layout = self._layouts.get(row.oid)
        if layout is None:
            return None
        if row.kind == "i" and row.new is not None:
            after = layout.spread(row.new)
            self._open.add((row.oid, "i"), layout.key_of(row.new), None, after)
        elif not layout.key and not row.whole:
            return "a row was changed, and upstream does not say which: the table has no key here"
        elif row.kind == "u" and row.new is not None:
            self._update(layout, row, row.new)
        elif row.old is not None:
            before = layout.spread(row.old) if row.whole else None
            self._open.add((row.oid, "d"), layout.key_of(row.old), before, None)
        if len(self._open) >= _CHUNK:
            self._spill()
        return None

    def truncate(self, oid: int) -> None:
        """Take the truncation of one table."""
        if oid in self._layouts:
            self._open.add((oid, "t"), None, None, None)

    def commit(self, end: int) -> None:
        """The transaction is whole; it ends at position `end`."""
        if self._folder is not None:
            self._spill()
            self._close_ready()
            counts = {str(oid): count for oid, count in self._spooled.items()}
            self._closed.append(Batch(self._folder.finished(end), end, counts))
            self._folder, self._spooled = None, Counter()
        elif self._open:
            self._ready.take_over(self._open, end)
            self._open = _Rows()
        self._upto = end

    def batch(self) -> Batch | None:
        """The next batch; None when nothing waits."""
        if not self._closed:
            self._close_ready()
        return self._closed.popleft() if self._closed else None

    def _update(self, layout: Layout, row: Row, new: Cells) -> None:
        if row.old is not None and row.unchanged:
            row.unchanged = layout.complete(new, row.old, row.unchanged)
        key = layout.key_of(new)
        before = layout.spread(row.old) if row.old is not None and row.whole else None
        unchanged = layout.positions(row.unchanged) if row.unchanged else None
        old_key = layout.key_of(row.old) if row.old is not None else key
        after = layout.spread(new)
        if row.old is None or old_key == key:
            self._open.add((row.oid, "u"), key, before, after, unchanged)
            return
        origin = layout.spread(row.old) if unchanged else None
        self._open.add((row.oid, "d"), old_key, before, None)
        self._open.add((row.oid, "i"), key, origin, after, unchanged)

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = self._spool.folder()
        self._spooled.update(self._open.reference)
        if self._open:
            self._folder.write(self._open.table(self._folder.rows))
        self._open = _Rows()

    def _close_ready(self) -> None:
        if not self._ready:
            return
        ready, self._ready = self._ready, _Rows()
        counts = {str(oid): count for oid, count in Counter(ready.reference).items()}
        upto = ready.position[-1]
        self._closed.append(Batch(ready.table(), upto, counts))
