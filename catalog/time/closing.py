"""Times of plain tables: a write takes its time before its rows are there, and says so.

A table is closed through a time when no write at that time or before it can still appear. Reads
and maintained views only look at closed times.
"""

from __future__ import annotations

import logging
import time as clock
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Max, Min
from django.utils import timezone

from catalog import leases
from catalog.errors import StatementError
from catalog.models import Item, PlainTableWrite
from catalog.planes import plane_of
from catalog.time.oracle import newest_time, next_time
from ingest import engine
from ingest.errors import HeadraceError

POLL = 0.02
DEAD_AFTER = 30.0
"""Seconds that a write is waited for whose process has died: what it asked of Spark may go on."""
SILENT_AFTER = 600.0
"""The same where nobody here can tell whether the process lives: it is another machine's."""
_REFUSED = {"21", "22", "23", "40", "42"}
"""Classes of SQLSTATE that say that nothing was written."""
_WRITER = leases.owner_name(uuid.uuid4().hex[:8])
_PENDING = PlainTableWrite.State.PENDING
_DONE = PlainTableWrite.State.DONE
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ticket:
    """A write that has its time (ms) and is not over."""

    region: str
    item: str
    shard: str
    time: int
    key: int


@dataclass(frozen=True)
class Closed:
    """Through which time (ms) plain tables are closed, and the newest time that was told to a
    writer: a strict reader must not read before it."""

    through: int
    told: int = 0


def begin(region: str, item: str, action: str, role: str, timeout: float | None) -> Ticket:
    """Take a time for a write and register it; waits for the table's write that is under way.

    Raises StatementError 55P03 when that takes longer than `timeout` seconds, 42P01 for a table
    that was dropped meanwhile.
    """
    started = clock.monotonic()
    while True:
        try:
            with transaction.atomic():
                return _register(region, item, action, role)
        except IntegrityError:
            resolve(region, (item,))
        if clock.monotonic() - started > (timeout or float("inf")):
            message = "canceling statement due to lock timeout"
            detail = "Another write to the table has not come to its end."
            raise StatementError(message, detail=detail, sqlstate="55P03")
        clock.sleep(POLL)


def _register(region: str, item: str, action: str, role: str) -> Ticket:
    found = Item.objects.filter(region__name=region, gid=item).values_list("pk", "shard").first()
    if found is None:
        raise StatementError("the table was dropped", sqlstate="42P01")
    time = next_time(region)
    row = PlainTableWrite.objects.create(
        item_id=found[0],
        time=time,
        operation=action,
        role=role,
        state=_PENDING,
        writer=_WRITER,
        begun_at=timezone.now(),
    )
    return Ticket(region, item, found[1], time, row.pk)


def end(ticket: Ticket, rows: int) -> None:
    """The write's rows are there."""
    PlainTableWrite.objects.filter(pk=ticket.key).update(state=_DONE, rows=rows)


def give_up(ticket: Ticket, error: BaseException) -> None:
    """The write has failed. What is not known for sure stays registered until it is."""
    if isinstance(error, HeadraceError) and error.sqlstate[:2] in _REFUSED:
        PlainTableWrite.objects.filter(pk=ticket.key).delete()
        return
    PlainTableWrite.objects.filter(pk=ticket.key).update(writer="")
    resolve(ticket.region, (ticket.item,))


def closed(region: str, items: Iterable[str]) -> Closed:
    """How far these plain tables are closed; the oracle's newest time where nothing is pending."""
    newest = newest_time(region)
    rows = PlainTableWrite.objects.filter(item__region__name=region, item__gid__in=tuple(items))
    pending = rows.filter(state=_PENDING).aggregate(first=Min("time"))["first"]
    told = rows.filter(state=_DONE).aggregate(last=Max("time"))["last"]
    return Closed(newest if pending is None else min(newest, pending - 1), told or 0)


def pending(region: str) -> dict[str, int]:
    """The times (ms) of the writes that are under way, by table."""
    rows = PlainTableWrite.objects.filter(item__region__name=region, state=_PENDING)
    return dict(rows.values_list("item__gid", "time"))


def resolve(region: str, items: Iterable[str] = ()) -> None:
    """Settle writes whose process has died, by what Delta says of them."""
    rows = PlainTableWrite.objects.filter(item__region__name=region, state=_PENDING)
    chosen = tuple(items)
    if chosen:
        rows = rows.filter(item__gid__in=chosen)
    for row in rows.exclude(writer=_WRITER).select_related("item__region"):
        if not leases.is_gone(row.writer) and not _older(row, SILENT_AFTER):
            continue
        try:
            _settle(row)
        except HeadraceError as error:
            _log.warning("a write to %s is not settled yet: %s", row.item.gid, error.message)


def _settle(row: PlainTableWrite) -> None:
    count = engine.written(plane_of(row.item.region.name), row.item.shard, row.time)
    same = PlainTableWrite.objects.filter(pk=row.pk, state=_PENDING)
    if count is not None:
        same.update(state=_DONE, rows=count)
    elif _older(row, DEAD_AFTER):
        same.delete()


def _older(row: PlainTableWrite, seconds: float) -> bool:
    begun = row.begun_at
    return begun is None or begun < timezone.now() - timedelta(seconds=seconds)
