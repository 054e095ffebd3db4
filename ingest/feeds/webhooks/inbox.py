"""The inbox: written by the processes that take requests, drained by the feed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingest.contract.inbox import Accepted
from ingest.contract.plane import Plane
from ingest.errors import Transient
from ingest.feeds import failpoint
from ingest.feeds.webhooks.files import Files

_IDLE = 3600.0
"""Seconds after which the folder of a process that writes nothing goes."""


def inbox_path(plane: Plane, feed: str) -> str:
    """Where a feed's requests wait."""
    return f"{plane.warehouse}/feeds/{feed}/inbox"


class DiskInbox:
    """One process's way in: an `ingest.contract.inbox.Inbox`. `writer` names the process, like no
    other one before or after it."""

    def __init__(self, plane: Plane, feed: str, writer: str) -> None:
        self._files = Files(inbox_path(plane, feed))
        self._writer = writer
        self._number = 0

    def write(self, requests: list[Accepted]) -> None:
        """Keep requests for good. Raises Transient."""
        self._number += 1
        lines = (json.dumps([r.reference, r.rows], ensure_ascii=False) for r in requests)
        content = "\n".join(lines).encode("utf-8", "surrogatepass")
        try:
            self._files.write(self._writer, f"{self._number:012d}.json", content)
        except OSError as error:
            message = "the request could not be kept"
            raise Transient(message, detail=error.strerror) from error
        failpoint.hit("request kept")


@dataclass(frozen=True)
class Batch:
    """One file of the inbox."""

    writer: str
    number: int
    requests: tuple[Accepted, ...]
    size: int

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.number:012d}.json"


class Drain:
    """The feed's side. What a writer numbered is taken in that order, and once."""

    def __init__(self, plane: Plane, feed: str) -> None:
        self._files = Files(inbox_path(plane, feed))

    def writers(self) -> list[str]:
        """The processes that have a folder."""
        return self._files.folders()

    def waiting(self, taken: Mapping[str, int], most: int) -> list[Batch]:
        """The batches after what is `taken` of each writer, until they have `most` bytes. Files
        that the log has already are removed. A file that goes meanwhile was logged by another
        feed: nothing after it is taken."""
        found: list[Batch] = []
        size = 0
        for writer in self.writers():
            for batch in self._of(writer, taken.get(writer, 0)):
                found.append(batch)
                size += batch.size
                if size >= most:
                    return found
        return found

    def done(self, batches: list[Batch]) -> None:
        """Remove batches that the log has."""
        for writer in {batch.writer for batch in batches}:
            self._files.remove(writer, [b.name for b in batches if b.writer == writer])

    def tidy(self, now: float | None = None) -> None:
        """Remove the empty folders of processes that have been silent for long."""
        limit = (now or time.time()) - _IDLE
        for writer in self.writers():
            if not self._files.names(writer) and 0 < self._files.changed(writer) < limit:
                self._files.remove_folder(writer)

    def _of(self, writer: str, taken: int) -> Iterator[Batch]:
        names = self._files.names(writer)
        self._files.remove(writer, [name for name in names if int(name[:12]) <= taken])
        for name in names:
            if int(name[:12]) <= taken:
                continue
            try:
                content = self._files.read(writer, name)
            except FileNotFoundError:
                return
            yield Batch(writer, int(name[:12]), _requests(content), len(content))


def _requests(content: bytes) -> tuple[Accepted, ...]:
    lines = content.decode("utf-8", "surrogatepass").split("\n")
    made = (json.loads(line) for line in lines if line)
    return tuple(Accepted(int(ref), tuple(map(tuple, rows))) for ref, rows in made)
