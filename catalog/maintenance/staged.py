"""What replacements would change, counted beside the rounds; and those that apply themselves."""

from __future__ import annotations

import logging
import time as clock
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from django.db import close_old_connections
from django.utils import timezone

from catalog import signals
from catalog.maintenance.guarding import stopped_by
from catalog.maintenance.rounds import Shard
from catalog.models import ViewProgress
from catalog.plan.picture import Entry, Picture
from catalog.planes import plane_of
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.replacement import ApplyReplacement
from catalog.sql.render import render
from catalog.time.inputs import view_input
from ingest import engine
from ingest.contract.views import Staged
from ingest.errors import HeadraceError

EVERY = 3.0
"""Seconds between two counts of one replacement, at least; ten times what the last one took."""
AGAIN = 30.0
"""Seconds after which a replacement that could not be applied by itself is tried again."""
_log = logging.getLogger(__name__)
Run = Callable[[str, str, str], None]
"""Runs a statement (SQL) in a region as a role, as its own user would; raises HeadraceError."""


@dataclass(frozen=True)
class Pair:
    """A replacement and its target, both complete through `time` (ms)."""

    target: Entry
    replacement: Entry
    key: tuple[str, ...]
    time: int
    seen: tuple[int, int]


@dataclass
class _Counted:
    seen: tuple[int, int] = (-1, -1)
    due: float = 0.0
    staged: Staged | None = None
    tried: float = -AGAIN


class Staging:
    """Counts one replacement at a time. `stopped` says by shard which guard rail stops what."""

    def __init__(self, region: str, run: Run | None) -> None:
        self._region = region
        self._run = run
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="staged")
        self._counted: dict[str, _Counted] = {}
        self._running: Future[None] | None = None
        self.stopped: dict[str, str] = {}

    def consider(self, picture: Picture, shards: Mapping[str, Shard]) -> None:
        """Begin the most urgent count or apply, if none is under way."""
        if self._running is not None and not self._running.done():
            return
        pairs = {pair.replacement.shard: pair for pair in _pairs(picture, shards)}
        self._counted = {s: one for s, one in self._counted.items() if s in pairs}
        self.stopped = {s: text for s, text in self.stopped.items() if s in pairs}
        now = clock.monotonic()
        for shard, pair in pairs.items():
            counted = self._counted.setdefault(shard, _Counted())
            fresh = counted.seen == pair.seen
            if not fresh and now >= counted.due:
                self._running = self._pool.submit(self._count, pair, counted)
                return
            if fresh and self._applies(pair, counted, now):
                counted.tried = now
                self._running = self._pool.submit(self._apply, pair)
                return

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _count(self, pair: Pair, counted: _Counted) -> None:
        began = clock.monotonic()
        try:
            staged = engine.staged(
                plane_of(self._region),
                view_input(pair.target),
                view_input(pair.replacement),
                pair.time,
                pair.key,
            )
            self._tell(pair, staged)
            counted.staged, counted.seen = staged, pair.seen
        except HeadraceError as error:
            _log.info("changes of %s not counted: %s", pair.replacement.name, error.message)
        except Exception:
            _log.exception("changes of %s not counted", pair.replacement.name)
        finally:
            close_old_connections()
            took = clock.monotonic() - began
            counted.due = clock.monotonic() + max(EVERY, 10 * took)

    def _tell(self, pair: Pair, staged: Staged) -> None:
        rows = ViewProgress.objects.filter(shard=pair.replacement.shard)
        rows.update(
            staged_added=staged.added,
            staged_removed=staged.removed,
            staged_changed=staged.changed,
            staged_bytes=staged.bytes,
            staged_as_of=staged.as_of,
        )
        self._judge(pair, staged)

    def _judge(self, pair: Pair, staged: Staged) -> str:
        """Which guard rail stops the replacement now; told where its status is."""
        guard = pair.replacement.view.guard
        if guard is None:
            return "a person applies it"
        target = ViewProgress.objects.filter(shard=pair.target.shard).first()
        rows = target.rows if target is not None else 0
        text = stopped_by(guard, staged, rows, timezone.now())
        self._stop(pair, text)
        return text

    def _stop(self, pair: Pair, text: str) -> None:
        shard = pair.replacement.shard
        if self.stopped.get(shard) == text:
            return
        self.stopped[shard] = text
        ViewProgress.objects.filter(shard=shard).update(detail=guarded(text))
        signals.reported.send(sender=None, region=self._region, ids=(pair.replacement.id,))

    def _applies(self, pair: Pair, counted: _Counted, now: float) -> bool:
        if self._run is None or counted.staged is None or pair.replacement.view.guard is None:
            return False
        return now - counted.tried >= AGAIN and not self._judge(pair, counted.staged)

    def _apply(self, pair: Pair) -> None:
        """Through the same door as a person, in the owner's name."""
        target, replacement = Name(pair.target.path), Name(pair.replacement.path)
        statement = render(ApplyReplacement(target, replacement))
        try:
            if self._run is not None:
                self._run(self._region, pair.replacement.owner, statement)
        except HeadraceError as error:
            _log.warning("%s not applied by itself: %s", pair.replacement.name, error.message)
            self._stop(pair, error.message)
        except Exception:
            _log.exception("%s not applied by itself", pair.replacement.name)
        finally:
            close_old_connections()


def guarded(text: str) -> str:
    """What a replacement's status says of the guard rail that stops it; empty for none."""
    return f"not applied by itself: {text}" if text else ""


def _pairs(picture: Picture, shards: Mapping[str, Shard]) -> list[Pair]:
    """The replacements that can be compared with their targets at one time."""
    found: list[Pair] = []
    for one in shards.values():
        entry = one.kept.entry
        target = picture.entries.get(entry.view.target) if one.kept.role == "replacement" else None
        old = shards.get(target.shard) if target is not None else None
        if target is None or old is None or old.through != one.through:
            continue
        keys = [kept.view.key for kept in (one.kept, old.kept) if kept.view is not None]
        key = keys[0] if keys and all(other == keys[0] for other in keys) else ()
        found.append(Pair(target, entry, key, one.through, (one.last, old.last)))
    return found
