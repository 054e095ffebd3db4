"""Subscribers of the views that are checked: what each was told adds up to its view."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import WebSocketException

from tests.services.product import Product
from tests.services.websocket import SqlSocket, sql_socket

Rows = Counter[tuple[Any, ...]]
GONE = {"42P01", "42703"}
"""What a subscription says whose view was dropped, or has lost a column by an undo."""
LATE = {"22023", "55000"}
"""What a subscription says that cannot be resumed: its history is not kept any more."""
PASSING = {"57P03", "57014", "40001", "08006"}


@dataclass
class Follower:
    """Follows one view over a websocket, in the `columns` that it had at the beginning; after a
    cut it goes on after the last progress that it kept.

    `seen` is what there was just before `progress`, according to all that was told.
    """

    product: Product
    name: str
    columns: Sequence[str] = ()
    progress: int = 0
    seen: Rows = field(default_factory=Counter)
    resumed: int = 0
    renewed: int = 0
    wrong: list[str] = field(default_factory=list)
    ended: bool = False
    _places: list[int] = field(default_factory=list)
    _later: list[list[Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _line: SqlSocket | None = None

    def start(self) -> None:
        """Begin to follow, in a thread of its own."""
        threading.Thread(target=self._run, daemon=True, name=f"follow {self.name}").start()

    def stop(self) -> None:
        """Leave with the next message."""
        self._stop.set()

    def cut(self) -> None:
        """Lose the connection, in the middle of whatever is being told."""
        if self._line is not None:
            self._line.line.socket.shutdown(socket.SHUT_RDWR)

    def moment(self) -> tuple[int, Rows]:
        """The newest progress, 0 before the first, and what there was just before it."""
        with self._lock:
            return self.progress, Counter(self.seen)

    def _run(self) -> None:
        while not self._stop.is_set() and not self.ended:
            try:
                with sql_socket(self.product) as self._line:
                    self._follow(self._line)
            except (OSError, WebSocketException, TimeoutError):
                self._stop.wait(0.5)
        self.ended = True

    def _follow(self, line: SqlSocket) -> None:
        self._ask(line)
        beginning = True
        while not self._stop.is_set():
            kind, payload = line.hear()
            if kind == "Error":
                self._failed(payload)
                return
            if kind == "Rows":
                self.columns = self.columns or line.columns[3:]
                self._places = [line.columns.index(name) for name in self.columns]
            elif kind == "Row":
                if not (beginning and payload[1] is True):
                    self._told(payload)
                beginning = False

    def _ask(self, line: SqlSocket) -> None:
        asked = f"SUBSCRIBE {self.name} WITH (PROGRESS"
        if self.progress:
            self.resumed += 1
            line.ask(f"{asked}, SNAPSHOT = false) AS OF {self.progress - 1}")
        else:
            line.ask(f"{asked})")
        self._later = []

    def _told(self, row: list[Any]) -> None:
        """A row, or with a progress all that came before it."""
        moment = int(row[0])
        if row[1] is False:
            if moment < self.progress:
                self.wrong.append(f"{self.name}: {row} after progress {self.progress}")
            self._later.append(row)
            return
        with self._lock:
            for one in self._later:
                if int(one[0]) >= moment:
                    self.wrong.append(f"{self.name}: {one} before progress {moment}")
                self.seen[tuple(one[place] for place in self._places)] += int(one[2])
            self._later = []
            if any(count < 0 for count in self.seen.values()):
                self.wrong.append(f"{self.name} at {moment}: {-self.seen} too often taken away")
            self.seen, self.progress = +self.seen, moment

    def _failed(self, error: dict[str, Any]) -> None:
        code = error.get("code")
        if code in GONE:
            self.ended = True
        elif code in LATE and self.progress:
            with self._lock:
                self.progress, self.seen = 0, Counter()
            self.renewed += 1
        elif code not in PASSING | LATE:
            self.wrong.append(f"{self.name}: {error}")
            self.ended = True
        self._stop.wait(1)
