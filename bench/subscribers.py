"""How long after a commit upstream its rows are in the hands of a hundred subscribers at once.

They all follow one table at 1,000 changes a second over `/query?query=`; one of them stops reading
half-way, which must not be felt by the others. A row's moment is its own column, set upstream.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

import psutil
from websockets.asyncio.client import ClientConnection, connect

from bench import product, upstream
from bench.freshness import Writer, percentile
from bench.metric import Metric
from tests.services.postgres import Postgres
from tests.services.product import Product
from tests.services.websocket import basic

NAME = "bench_subscribers"
SQL = f"SUBSCRIBE {NAME}_t0 WITH (SNAPSHOT = false)"
WARM = 15.0
PATIENCE = 120.0
_SUBSCRIPTIONS = "SELECT readers, computed, own_reads FROM mz_internal.mz_subscriptions"
_AT = 6
"""The place of the column `at` among a row's."""


@dataclass
class Crowd:
    """What the subscribers heard: by message, the moments of its rows and when each one got it."""

    moments: dict[str, list[float]] = field(default_factory=dict)
    heard: dict[str, list[float]] = field(default_factory=dict)

    def hear(self, message: str) -> None:
        """One subscriber got a message now. Equal messages are read once."""
        now = time.time()
        if message not in self.moments:
            self.moments[message] = _moments(json.loads(message))
        self.heard.setdefault(message, []).append(now)

    def lags(self, since: float, until: float = float("inf")) -> list[float]:
        """Seconds from each row's moment, in that time, to each subscriber that got it."""
        return [
            got - moment
            for message, times in self.heard.items()
            for moment in self.moments[message]
            if since < moment <= until
            for got in times
        ]


def _moments(body: dict[str, Any]) -> list[float]:
    rows = [row for row in body.get("rows", ()) if row[1] == "1"]
    return [datetime.fromisoformat(row[_AT]).timestamp() for row in rows]


def measure(server: Postgres, running: Product, seconds: float, many: int = 100) -> list[Metric]:
    """p50 and p95 of delivery to all of them, and how often the changes were computed."""
    dsn = server.create_database(NAME)
    upstream.make_small(dsn, 1, "bench")
    product.connect(running, NAME, dsn)
    product.source(running, f"{NAME}_source", NAME, "bench")
    product.tables(running, f"{NAME}_source", {f"{NAME}_t0": "t0"})
    product.wait_running(running, [f"{NAME}_t0"])
    writer = Writer(dsn, 1, 1000)
    thread = threading.Thread(target=writer.run)
    thread.start()
    try:
        found = asyncio.run(_listen(running, seconds, many))
    finally:
        writer.stopped.set()
        thread.join()
        product.drop(running, "source", f"{NAME}_source")
    rate = len(found.all_reading) / many / found.seconds
    note = f"{rate:,.0f} changes a second to each of {many}"
    title = f"delivery to {many} subscribers"
    p95 = percentile(found.all_reading, 95)
    stalled = percentile(found.one_stalled, 95)
    return [
        Metric(f"{title} p50", percentile(found.all_reading, 50), "s", note=note),
        Metric(f"{title} p95", p95, "s", note=note),
        Metric(f"{title} p95, one stalled/none", stalled, "s", "none stalled", p95, 1.5),
        Metric(f"computations of changes, {many} subscribers", found.share, "a batch", target=1.2),
        Metric(f"CPU of web, {many} subscribers", found.web, "cores", note=note),
        Metric(f"CPU of all, {many} subscribers", found.whole, "cores", note=note),
    ]


@dataclass(frozen=True)
class Heard:
    """Lags in seconds, while everybody read and while one did not, and how many computations
    there were for each batch that was told. `web` and `whole` are cores that the web process and
    the whole product used in the `seconds` of the first part."""

    all_reading: list[float]
    one_stalled: list[float]
    share: float
    web: float
    whole: float
    seconds: float


async def _listen(running: Product, seconds: float, many: int) -> Heard:
    address = f"ws://127.0.0.1:{running.port}/query?query={quote(SQL)}"
    crowd, stalls = Crowd(), asyncio.Event()
    lines = [await _line(address, basic(running)) for _ in range(many)]
    tasks = [
        asyncio.create_task(_hear(line, crowd, stalls if number == 0 else None))
        for number, line in enumerate(lines)
    ]
    try:
        await _first(crowd)
        await asyncio.sleep(WARM)
        began, before = time.time(), _cpu(running)
        await asyncio.sleep(seconds)
        middle, after = time.time(), _cpu(running)
        stalls.set()
        await asyncio.sleep(seconds)
        computed = await asyncio.to_thread(_computed, running, many)
        batches = len(crowd.heard)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for line in lines:
            line.transport.abort()
    took = middle - began
    web, whole = ((new - old) / took for old, new in zip(before, after, strict=True))
    share = computed / max(batches, 1)
    return Heard(crowd.lags(began, middle), crowd.lags(middle), share, web, whole, took)


async def _first(crowd: Crowd) -> None:
    """Wait until changes are told; raises TimeoutError."""
    async with asyncio.timeout(PATIENCE):
        while not any(crowd.moments.values()):
            await asyncio.sleep(0.1)


async def _line(address: str, headers: dict[str, str]) -> ClientConnection:
    return await connect(
        address, additional_headers=headers, max_size=None, open_timeout=120, compression=None
    )


async def _hear(line: ClientConnection, crowd: Crowd, stalls: asyncio.Event | None) -> None:
    async for message in line:
        crowd.hear(str(message))
        if stalls is not None and stalls.is_set():
            await asyncio.Event().wait()


def _cpu(running: Product) -> tuple[float, float]:
    """Seconds of CPU of the web process, and of the whole product."""
    used = {"web": 0.0, "whole": 0.0}
    for process in running.processes():
        with suppress(psutil.Error):
            times = process.cpu_times()
            used["whole"] += times.user + times.system
            used["web"] += times.user + times.system if "uvicorn" in process.cmdline() else 0.0
    return used["web"], used["whole"]


def _computed(running: Product, many: int) -> int:
    """How often changes were computed; nobody did it for themselves but who stalled, if that one
    is there still: who reads nothing answers no ping, and is let go some 40 s later."""
    rows = running.sql(_SUBSCRIPTIONS)
    there = len(rows)
    assert many - 1 <= there <= many, there
    assert [row[0] for row in rows] == [str(there)] * there, rows[:3]
    own = sorted(int(row[2] or 0) for row in rows)
    print(f"  computed {rows[0][1]}, by readers themselves {own[-2:]}", file=sys.stderr)
    return int(rows[0][1] or 0)
