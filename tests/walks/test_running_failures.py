"""Failures while a feed runs: a named state with cause and remedy, the same everywhere."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connections

from catalog import desired, leases, reads
from catalog.control.controller import Host, write_reports
from catalog.reads import StatusRow
from ingest import engine
from ingest.contract.plane import Plane
from ingest.contract.reports import FeedReport
from ingest.errors import HeadraceError
from tests.services.postgres import Postgres
from tests.walks.entrances import Entrances, Upstream

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
]
SHOP = """
    create table kept (id int primary key); insert into kept values (1);
    create table gone (id int primary key); insert into gone values (1);
    create publication p for table kept, gone;
"""


@dataclass
class Running:
    """One feed in a thread, its upstream, and who looks at it."""

    entrances: Entrances
    plane: Plane
    dsn: str
    thread: threading.Thread | None = None
    host: Host | None = None

    def upstream(self, *statements: str) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def feed(self) -> str:
        (feed,) = desired.wanted_feeds(settings.HEADRACE_REGION)
        return feed

    def start(self) -> None:
        feed = self.feed()
        epoch = leases.acquire_feed(settings.HEADRACE_REGION, feed, "test:1:x")
        assert epoch
        self.host = Host(settings.HEADRACE_REGION, feed, "test:1:x", epoch)
        self.thread = threading.Thread(target=self._run, args=(feed, self.host))
        self.thread.start()

    def _run(self, feed: str, host: Host) -> None:
        try:
            engine.run_feed(self.plane, host)
        except HeadraceError as error:
            report = FeedReport(
                feed,
                "failed",
                error=error.message,
                detail=error.detail or "",
                hint=error.hint or "",
            )
            write_reports(settings.HEADRACE_REGION, (report,))
        finally:
            connections.close_all()

    def stop(self) -> None:
        if self.host is not None and self.thread is not None:
            self.host.stop()
            self.thread.join(60)

    def wait(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < until, (reads.sources(), reads.tables())
            time.sleep(0.2)

    def live(self) -> bool:
        return all(table.readable_from for table in reads.tables())

    def told(self, status: StatusRow, kind: str) -> None:
        """The same error and hint in the system catalog, the REST resource and on the page."""
        query = (
            "SELECT status, error, details FROM mz_internal.mz_source_statuses "
            f"WHERE id = '{status.id}'"
        )
        (result,) = self.entrances.post("/api/sql", {"query": query})["results"]
        state, error, details = result["rows"][0]
        assert (state, error) == (status.status, status.error)
        assert details["hints"] == [status.hint]
        answer = self.entrances.api.get(f"/api/{kind}/{status.id}").json()
        shown = answer["status"]
        assert (shown["status"], shown["error"], shown["hint"]) == (
            status.status,
            status.error,
            status.hint,
        )
        page = html.unescape(self.entrances.browser.get(f"/{kind}/{status.id}").content.decode())
        assert status.error in page
        assert status.hint in page
        assert status.hint


def source_status() -> StatusRow:
    return reads.sources()[0].status


def table_status(name: str) -> StatusRow:
    return next(table.status for table in reads.tables() if table.item.name == name)


def running_feed(entrances: Entrances, postgres: Postgres, plane: Plane) -> Running:
    name = "running_failures"
    made = Running(entrances, plane, postgres.create_database(name))
    made.upstream(SHOP)
    where = Upstream(postgres.host, postgres.port, name)
    entrances.sql(f"CREATE CONNECTION pg TO POSTGRES ({where.options()})")
    entrances.sql("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p')")
    entrances.sql(
        "CREATE TABLE kept FROM SOURCE s (REFERENCE kept);"
        "CREATE TABLE gone FROM SOURCE s (REFERENCE gone)"
    )
    made.start()
    made.wait(made.live, 120)
    return made


@pytest.fixture
def running(
    entrances: Entrances, postgres: Postgres, plane: Plane, tmp_path: Path
) -> Iterator[Running]:
    """Every catalog here starts with feed f1 and epoch 1, so each has a warehouse of its own."""
    own = replace(plane, warehouse=str(tmp_path / "warehouse"))
    made = running_feed(entrances, postgres, own)
    try:
        yield made
    finally:
        made.stop()


def test_tables_fail_alone_and_a_lost_slot_fails_the_source(running: Running) -> None:
    running.upstream("drop table gone")
    running.wait(lambda: table_status("gone").status == "failed")
    status = table_status("gone")
    assert status.error == "table public.gone was dropped upstream"
    running.told(status, "tables")
    assert table_status("kept").status == "running"

    running.upstream("create table other (id int primary key)")
    running.upstream("alter publication p set table other")
    running.wait(lambda: table_status("kept").status == "failed")
    status = table_status("kept")
    assert status.error == 'table public.kept was removed from publication "p"'
    running.told(status, "tables")

    running.wait(lambda: _dropped(running))
    running.wait(lambda: source_status().status == "failed")
    status = source_status()
    assert status.error.startswith('replication slot "headrace_')
    assert status.error.endswith("is gone")
    assert status.detail == "Somebody dropped it; the changes since then are lost."
    running.told(status, "sources")


def _dropped(running: Running) -> bool:
    """Drop the slot in the moment in which nobody reads it."""
    try:
        running.upstream(
            "select pg_terminate_backend(active_pid) from pg_replication_slots "
            "where database = current_database() and active",
            "select pg_drop_replication_slot(slot_name) from pg_replication_slots "
            "where database = current_database()",
        )
    except psycopg.errors.ObjectInUse:
        return False
    return True


def test_a_slot_that_upstream_gave_up_fails_the_source(running: Running) -> None:
    """max_slot_wal_keep_size: upstream has thrown away WAL that the slot still needed."""
    running.stop()
    try:
        running.upstream(
            "alter system set max_slot_wal_keep_size = '1MB'", "select pg_reload_conf()"
        )
        running.wait(lambda: _given_up(running))
    finally:
        running.upstream("alter system reset max_slot_wal_keep_size", "select pg_reload_conf()")
    leases.release_feed(settings.HEADRACE_REGION, running.feed(), "test:1:x")
    running.start()
    running.wait(lambda: source_status().status == "failed")
    status = source_status()
    assert status.error.startswith('replication slot "headrace_')
    assert status.error.endswith("is invalid")
    assert "max_slot_wal_keep_size" in status.detail
    running.told(status, "sources")


def _given_up(running: Running) -> bool:
    """Let upstream move on by a WAL segment, and look whether it has left the slot behind."""
    running.upstream("insert into kept select max(id) + 1 from kept", "select pg_switch_wal()")
    with psycopg.connect(running.dsn, autocommit=True) as connection:
        connection.execute("checkpoint")
        row = connection.execute(
            "select wal_status from pg_replication_slots where database = current_database()"
        ).fetchone()
    return row is not None and row[0] == "lost"


def _fill(path: Path) -> None:
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(b"x" * 65536)


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk is a small tmpfs: needs root")
def test_disk_full(running: Running, tmp_path: Path) -> None:
    """The feed's log lies on a tmpfs that has no room left: the feed waits, and says so."""
    running.stop()
    feed = running.feed()
    log = Path(running.plane.warehouse.removeprefix("file://")) / "feeds" / feed / "log"
    kept = tmp_path / "log"
    shutil.copytree(log, kept)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(log)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        shutil.copytree(kept, log, dirs_exist_ok=True)
        filler = log / "filler"
        _fill(filler)
        leases.release_feed(settings.HEADRACE_REGION, feed, "test:1:x")
        running.start()
        running.upstream("insert into kept select generate_series(10, 20000)")
        running.wait(lambda: "no space left" in source_status().error)
        status = source_status()
        assert status.error == "could not write to the warehouse: no space left on device"
        assert status.hint == "Free some space; nothing that was acknowledged is lost."
        assert status.status == "stalled"
        running.told(status, "sources")
        filler.unlink()
        running.wait(lambda: source_status().status == "running")
    finally:
        running.stop()
        subprocess.run(["umount", "-l", str(log)], check=False)
