"""One connection's worth of following: from the slot's start to the stream's end."""

from __future__ import annotations

import time
from collections import defaultdict

import psycopg

from ingest.contract.commands import Export, Feed
from ingest.contract.host import FeedHost
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget
from ingest.errors import Terminal
from ingest.feeds import failpoint
from ingest.feeds.exports import Exports
from ingest.feeds.postgres import faults, slot
from ingest.feeds.postgres.collect import Collector
from ingest.feeds.postgres.committer import Committer
from ingest.feeds.postgres.connect import connect
from ingest.feeds.postgres.decoder import Commit, Message, Relation, Row, Truncate, decode
from ingest.feeds.postgres.layout import Layout, incompatible, layout
from ingest.feeds.postgres.snapshot import Snapshot
from ingest.feeds.postgres.stream import Identity, Stream
from ingest.feeds.postgres.watch import Watch, incompatible_change

_GAP_SECONDS = 0.1
_TICK_SECONDS = 0.2
_WATCH_SECONDS = 5.0
_READ_SECONDS = 0.02
_MOST_MESSAGES = 5_000
_MOST_WAITING = 150_000


class Following:
    """Owns the connections of one attempt; `run` returns when the feed is not wanted any more
    and raises Transient or Terminal when the attempt ends otherwise."""

    def __init__(
        self, plane: Plane, host: FeedHost, feed: Feed, exports: Exports, committer: Committer
    ) -> None:
        if not isinstance(feed.target, PostgresTarget):
            raise TypeError
        self._plane = plane
        self._host = host
        self._feed = feed
        self._exports = exports
        self._committer = committer
        self._layouts: dict[int, Layout] = {}
        self._relations: dict[int, Relation] = {}
        self._collector = Collector(self._layouts, committer.spool)
        self._snapshots: dict[str, Snapshot] = {}
        self._target = feed.target
        self._session = connect(feed.target)
        self._stream = Stream(feed.target)
        self._watch = Watch(self._session, feed.slot, feed.publication)
        self._committed = self._ticked = self._watched = 0.0
        self._read_before = committer.report.bytes
        self._retained = -1

    def run(self) -> None:
        """Follow until the host says stop."""
        try:
            self._start()
            self._look()
            while self._tick():
                self._step()
            self._committer.finish()
            self._acknowledge()
        except psycopg.Error as error:
            raise faults.running(error) from None

    def close(self) -> None:
        """End the connections and let running snapshots stop at their next step."""
        for snapshot in self._snapshots.values():
            snapshot.stopping.set()
        self._stream.close()
        self._session.close()
        while True:
            try:
                if not self._committer.busy:
                    return
            except Exception:
                return
            time.sleep(_READ_SECONDS)

    def _start(self) -> None:
        identity = self._same_upstream(self._stream.identify())
        found = slot.find(self._session, self._feed.slot)
        if found is None and not self._committer.durable:
            found = slot.create(self._session, self._feed.slot)
            failpoint.hit("slot made")
        found = slot.usable(found, self._feed.slot, self._committer.durable)
        slot.free(self._session, found)
        if not self._committer.durable:
            self._committer.bind(found.confirmed, identity)
        position = self._committer.durable
        self._stream.start(self._feed.slot, self._feed.publication, position)

    def _same_upstream(self, identity: Identity) -> str:
        """Refuse to go on at a position of another history: a restored or promoted server."""
        now, before = "/".join(identity), self._committer.last.upstream
        if before and before != now:
            raise Terminal(
                "the upstream is not the server it was",
                detail=f"Its system and timeline were {before} and are {now}: it was restored "
                "from a backup, or a standby was promoted; its positions do not compare.",
                hint="Create a new source on it, and new tables in place of the old ones.",
            )
        return now

    def _step(self) -> None:
        """Read a little, take it in, and start a commit when one is due."""
        if self._collector.waiting < _MOST_WAITING:
            for data in self._stream.read(_READ_SECONDS, _MOST_MESSAGES):
                self._take(decode(data))
        else:
            time.sleep(_READ_SECONDS)
            self._stream.ask(reply=False)
        if self._committer.busy:
            return
        self._acknowledge()
        now = time.monotonic()
        if now - self._committed < _GAP_SECONDS:
            return
        batch = self._collector.batch()
        if batch is not None:
            self._committed = now
            self._committer.commit(batch)
        elif not self._collector.inside and now - self._committed >= _TICK_SECONDS:
            self._committed = now
            self._committer.idle(self._stream.sent)

    def _acknowledge(self) -> None:
        if self._committer.durable > self._stream.confirmed:
            self._stream.confirm(self._committer.durable)
            failpoint.hit("confirmed")

    def _take(self, message: Message) -> None:
        if isinstance(message, Row):
            trouble = self._collector.row(message)
            if trouble is not None:
                self._fail(message.oid, incompatible_change(trouble))
        elif isinstance(message, Commit):
            self._collector.commit(message.end)
            self._stream.sent = max(self._stream.sent, message.end)
        elif isinstance(message, Relation):
            self._relations[message.oid] = message
            self._lay_out(message.oid)
        elif isinstance(message, Truncate):
            for oid in message.oids:
                self._collector.truncate(oid)

    def _lay_out(self, oid: int) -> None:
        """Decide anew how rows of a reference are logged, and which tables they still fit."""
        relation = self._relations.get(oid)
        if relation is None:
            return
        for export in self._exports.logged(oid):
            reason = incompatible(relation, export)
            if reason is not None:
                self._exports.fail(export.table, incompatible_change(reason))
        exports = self._exports.logged(oid)
        if exports:
            self._layouts[oid] = layout(relation, exports)
        else:
            self._layouts.pop(oid, None)

    def _fail(self, oid: int, error: Terminal) -> None:
        for export in self._exports.logged(oid):
            if not export.key:
                self._exports.fail(export.table, error)
        self._lay_out(oid)

    def _tick(self) -> bool:
        """Several times a second: the definition; now and then: the upstream. False: stop."""
        now = time.monotonic()
        if now - self._ticked < _TICK_SECONDS:
            return True
        self._ticked = now
        feed = self._host.desired()
        if feed is None:
            return False
        self._register(feed)
        if now - self._watched > _WATCH_SECONDS:
            self._look()
        if self._exports.waits() or self._collector.waiting == 0:
            self._stream.ask()
        read = self._read_before + self._stream.bytes
        self._committer.seen(newest=self._stream.newest, retained=self._retained, read=read)
        return True

    def _register(self, feed: Feed) -> None:
        """Log the references of new tables from here on, then take their snapshots."""
        fresh, gone = self._exports.update(feed.exports)
        for oid in {export.reference for export in (*fresh, *gone)}:
            self._lay_out(oid)
        self._feed = feed
        groups: dict[str, list[Export]] = defaultdict(list)
        for export in self._exports.unhydrated():
            groups[export.snapshot_group].append(export)
        for name, group in groups.items():
            if name not in self._snapshots or not self._snapshots[name].is_alive():
                snapshot = Snapshot(self._plane, feed, self._target, group, self._exports)
                self._snapshots[name] = snapshot
                snapshot.start()

    def _look(self) -> None:
        self._watched = time.monotonic()
        self._retained = self._watch.slot().retained_bytes
        for export, error in self._watch.lost(self._exports.alive()):
            self._exports.fail(export.table, error)
            self._lay_out(export.reference)
        self._exports.explain("slot", self._watch.oldest_transaction)
