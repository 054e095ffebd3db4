"""Two at once: a feed that comes back from the dead, and tasks that are delivered twice."""

from __future__ import annotations

import signal
import sys
import time

import psutil
import psycopg
import pytest
import redis

from tests.faults import processes
from tests.faults.field import Field, Wound, until
from tests.services import process
from tests.services.product import ROOT

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.postgres]


def test_a_zombie_is_fenced(field: Field) -> None:
    """The keeper and its feed stand still for longer than the lease; another keeper takes over;
    then they go on as if nothing had been."""
    wound = Wound("feed stopped, continued", "streaming")
    field.wounds.append(wound)
    (keeper,), (zombie,) = (processes.find(field.product, v) for v in ("feeds", "feed"))
    log = field.product.home / "logs" / "other-feeds.log"
    command = [sys.executable, str(ROOT / "manage.py"), "feeds"]
    other = process.start(command, log, field.product.environment)
    moment = time.monotonic()
    try:
        for stopped in (keeper, zombie):
            stopped.send_signal(signal.SIGSTOP)
        until(lambda: bool(_feeds_of(other.pid)), "nobody took over")
        field.recover(wound, moment)
        for stopped in (zombie, keeper):
            stopped.send_signal(signal.SIGCONT)
        until(lambda: not zombie.is_running() or _ended(zombie), "the zombie goes on")
        field.compare(wound)
    finally:
        for stopped in (zombie, keeper):
            if stopped.is_running():
                stopped.send_signal(signal.SIGCONT)
        process.stop(other)
    back = Wound("other keeper ended", "streaming")
    field.wounds.append(back)
    field.recover(back, field.now())
    field.compare(back)


def test_tasks_delivered_twice(field: Field) -> None:
    wound = Wound("tasks four times", "streaming")
    field.wounds.append(wound)
    table = field.new_table()
    field.recover(wound, field.now())
    with psycopg.connect(field.dsn, autocommit=True) as session:
        session.execute("update wide set n = n + 1000")
    moment = field.now()
    for task in ("apply", "compact"):
        for _ in range(4):
            field.send(task, feed=field.feed())
    for task in ("reconcile", "apply_all", "compact_all"):
        for _ in range(2):
            field.send(task)
    field.recover(wound, moment)
    field.compare(wound, {table: "wide"})


def test_the_broker_forgets_everything(field: Field) -> None:
    """What was queued is found again in the catalog: the dropped source's slot goes."""
    wound = Wound("broker FLUSHALL", "streaming")
    field.wounds.append(wound)
    field.patiently("CREATE SOURCE other FROM POSTGRES CONNECTION bank (PUBLICATION 'second')")
    table = field.new_table("other")
    field.recover(wound, field.now())
    field.patiently("DROP SOURCE other CASCADE")
    moment = field.now()
    client = redis.Redis.from_url(field.redis())
    client.flushall()
    client.close()
    field.recover(wound, moment)
    field.compare(wound)
    assert table not in {row[0] for row in field.patiently("SHOW TABLES")}


def _feeds_of(pid: int) -> list[psutil.Process]:
    return list(psutil.Process(pid).children(recursive=True))


def _ended(process_: psutil.Process) -> bool:
    return bool(process_.status() == psutil.STATUS_ZOMBIE)
