"""The whole product beside its upstream under fire, and what must be true of it afterwards."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from http.client import HTTPException
from pathlib import Path
from typing import Any

import psutil
import psycopg
from celery import Celery
from psycopg.conninfo import conninfo_to_dict

from tests.faults import processes, upstream
from tests.services.postgres import Postgres
from tests.services.product import Product, SqlFailure

BOUND = 240.0
"""Seconds after which everything has to run again; pauses between restarts grow up to 30 s."""

COLD = 400.0
"""The same for the first start of all, on a machine that does other things as well."""

FRESH = 2.0
"""Seconds behind upstream that count as running, on a machine with nothing else to do."""

SHARED = ("accounts", "ledger", "marks")
_BOOKS = (
    "SELECT a.total, a.moves, l.n, l.top, l.ids FROM"
    " (SELECT sum(balance) AS total, sum(moves) AS moves FROM accounts) a,"
    " (SELECT count(*) AS n, max(id) AS top, count(DISTINCT id) AS ids FROM ledger) l"
)


@dataclass
class Wound:
    """One kill, and what came of it: seconds until all ran again, and until the reason of the
    stop was to be read (None: nothing had stopped)."""

    victim: str
    phase: str
    recovered: float = -1.0
    told: float | None = None
    lost: int = 0
    doubled: int = 0


@dataclass
class Reader:
    """Reads the books at random moments: whoever gets an answer gets whole transactions."""

    product: Product
    answers: int = 0
    refusals: int = 0
    wrong: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Read until stopped."""
        pick, seen = random.Random(5), 0
        while not self.stopped.wait(pick.uniform(0.3, 3)):
            try:
                row = self.product.sql(_BOOKS)[0]
            except (SqlFailure, AssertionError, OSError, HTTPException):
                self.refusals += 1
                continue
            self.answers += 1
            total, moves, lines, top, ids = (Decimal(value or 0) for value in row)
            if total != 0 or moves != 2 * lines or not lines == top == ids or lines < seen:
                self.wrong.append(f"{row} after {seen} lines")
            seen = int(lines)


class Field:
    """Everything that a case needs; shared by all of them."""

    def __init__(self, product: Product, postgres: Postgres, points: Path) -> None:
        self.product = product
        self.postgres = postgres
        self.points = points
        self.dsn = postgres.create_database("faults")
        upstream.make(self.dsn)
        self.writer = upstream.Writer(self.dsn)
        self.reader = Reader(replace(product, _connection=None))
        self._reading = threading.Thread(target=self.reader.run, daemon=True)
        self._made = self._kept = 0
        self.wounds: list[Wound] = []

    def open(self) -> None:
        """Connect, create the tables that stay, and start to write and to read."""
        facts = conninfo_to_dict(self.dsn)
        self.writer.start()
        self.product.sql(
            f"CREATE SECRET word AS '{facts['password']}';"
            f"CREATE CONNECTION bank TO POSTGRES (HOST '{facts['host']}', PORT {facts['port']},"
            f" DATABASE 'faults', USER '{facts['user']}', PASSWORD SECRET word)"
        )
        self.product.sql("CREATE SOURCE shop FROM POSTGRES CONNECTION bank (PUBLICATION 'faults')")
        made = " ".join(
            f"CREATE TABLE {t} FROM SOURCE shop (REFERENCE public.{t});" for t in SHARED
        )
        self.product.sql(f"BEGIN; {made} COMMIT;")
        self.recover(Wound("", ""), time.monotonic(), COLD)
        self._reading.start()

    def close(self) -> None:
        """Stop writing and reading."""
        self.reader.stopped.set()
        self.writer.stop()
        if self._reading.is_alive():
            self._reading.join(60)

    # what is done to it

    def strike(self, victim: str) -> float:
        """kill -9 of every process of the kind; the moment of it."""
        moment = time.monotonic()
        if victim == "postgres":
            self.postgres.kill()
            time.sleep(2)  # long enough for those who use it to notice
            self.postgres.start()
        else:
            found = processes.find(self.product, victim)
            assert found, f"no {victim} to kill"
            processes.kill(found)
            psutil.wait_procs(found, 20)
        return moment

    def arm(self, process: str, point: str) -> float:
        """Let the running process of the kind be followed by one that dies at a fail point;
        returns the moment once that one is armed."""
        moment = self.arm_next(process, point)
        self.strike(process)
        until(lambda: not (self.points / process).exists(), "nobody took the fail point")
        return moment

    def arm_next(self, process: str, point: str) -> float:
        """Let the next process of the kind die at a fail point; the moment of it."""
        (self.points / process).write_text(point)
        return self.now()

    def now(self) -> float:
        """The moment, as `recover` takes it."""
        return time.monotonic()

    def feed(self) -> str:
        """The id of the one feed."""
        return str(self.patiently("SELECT id FROM mz_internal.mz_feeds ORDER BY id")[0][0])

    def new_table(self, source: str = "shop") -> str:
        """Create a table over `wide`, whose snapshot takes a while; its name."""
        self._made += 1
        name = f"wide_{self._made}"
        self.patiently(f"CREATE TABLE {name} FROM SOURCE {source} (REFERENCE public.wide)")
        return name

    def await_snapshot(self) -> None:
        """Wait until a snapshot is being taken: a session of ours holds it upstream."""
        until(lambda: upstream.held(self.dsn) > 0, "no snapshot began", every=0.02)

    def tidy(self) -> None:
        """Drop what a case had made."""
        for number in range(self._kept + 1, self._made + 1):
            self.patiently(f"DROP TABLE IF EXISTS wide_{number}")
        self._kept = self._made
        self.patiently("DROP SOURCE IF EXISTS other CASCADE")

    def send(self, task: str, **arguments: str) -> None:
        """Put a task on the worker's queue."""
        with self._celery() as app:
            app.send_task(f"console.worker.{task}", kwargs=arguments)

    def redis(self) -> str:
        """Where the broker is."""
        facts = json.loads((self.product.home / "run" / "services.json").read_text())
        return str(facts["redis"])

    # what must be true of it

    def recover(self, wound: Wound, moment: float, bound: float = BOUND) -> Wound:
        """Wait until everything runs again without a hand, and note how long that took."""
        wound_told: float | None = None
        while True:
            state = self._state(moment)
            if wound_told is None and "error" in state:
                wound_told = time.monotonic() - moment
            if not state:
                break
            if time.monotonic() - moment > bound:
                raise AssertionError(f"{wound.victim} {wound.phase}: {state}")
            time.sleep(0.1)
        wound.recovered, wound.told = time.monotonic() - moment, wound_told
        return wound

    def compare(
        self,
        wound: Wound,
        tables: dict[str, str] | None = None,
        sources: Sequence[str] = ("shop",),
    ) -> None:
        """Stop the writer for a moment: every table here is the one upstream, row by row; there
        is one slot per source, and nobody has read half a transaction so far."""
        pairs = {name: name for name in SHARED} | (tables or {})
        with self.writer.paused():
            last = self.writer.commits[-1][0]
            for source in sources:
                self._await_progress(source, last)
            for here, there in pairs.items():
                wanted, found = upstream.rows(self.dsn, there), self.rows(here, there)
                wound.lost += (wanted - found).total()
                wound.doubled += (found - wanted).total()
        assert (wound.lost, wound.doubled) == (0, 0), wound
        until(lambda: upstream.slots(self.dsn) == len(sources), "slots are left over")
        assert not self.reader.wrong, self.reader.wrong

    def rows(self, here: str, there: str) -> Counter[tuple[Any, ...]]:
        """Every row of a table here, as text."""
        columns = ", ".join(upstream.TABLES[there])
        return Counter(tuple(row) for row in self.patiently(f"SELECT {columns} FROM {here}"))

    def patiently(self, sql: str) -> Sequence[Sequence[Any]]:
        """The rows of a statement; what passes is waited for."""
        answer: list[Sequence[Sequence[Any]]] = []

        def tried() -> bool:
            found = self._ask(sql)
            answer.extend([] if found is None else [found])
            return found is not None

        until(tried, f"no answer: {sql}")
        return answer[0]

    def _ask(self, sql: str) -> Sequence[Sequence[Any]] | None:
        try:
            return self.product.sql(sql)
        except SqlFailure as failure:
            if failure.error.get("code", "")[:2] in {"08", "53", "57", "55", "40"}:
                return None
            raise
        except (OSError, HTTPException):
            return None

    def _await_progress(self, source: str, position: int) -> None:
        until(lambda: self._progress(source) >= position, f"{source} stands still")

    def _progress(self, source: str = "shop") -> int:
        found = self._ask(f"SELECT lsn FROM {source}")
        return int(found[0][0] or 0) if found else 0

    def _state(self, moment: float) -> dict[str, Any]:
        """What does not run (yet); empty when all does."""
        states = self._ask("SELECT name, status, error FROM mz_internal.mz_source_statuses")
        if states is None:
            return {"web": "no answer"}
        ill = {str(name): (s, error) for name, s, error in states if s != "running"}
        if ill:
            errors = [error for _, error in ill.values() if error]
            return ill | ({"error": errors[0]} if errors else {})
        gone = [v for v in processes.VICTIMS[:-1] if not processes.find(self.product, v)]
        progress = self._progress()
        heard = any(lsn <= progress and at > moment for lsn, at in self.writer.commits[-2_000:])
        if gone or not heard or self.writer.behind(progress) > fresh():
            return {"gone": gone, "heard": heard, "behind": self.writer.behind(progress)}
        return self._answers()

    def _answers(self) -> dict[str, Any]:
        if self._ask("SELECT count(*) FROM accounts") is None:
            return {"SELECT": "no answer"}
        try:
            with self._celery() as app:
                return {} if app.control.ping(timeout=2, limit=1) else {"worker": "no answer"}
        except OSError as error:
            return {"broker": repr(error)}
        except Exception as error:
            return {"broker": repr(error)}

    def _celery(self) -> Celery:
        app = Celery(broker=self.redis(), set_as_current=False)
        app.conf.broker_transport_options = {"socket_timeout": 5, "max_retries": 1}
        app.conf.broker_connection_retry = False
        return app


def fresh() -> float:
    """`FRESH`, scaled with what else this machine has to do."""
    return FRESH * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def until(
    ready: Callable[[], bool], complaint: str, seconds: float = BOUND, every: float = 0.1
) -> None:
    """Wait for a condition; a server that is away has not fulfilled it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if ready():
                return
        except psycopg.OperationalError:
            pass
        assert time.monotonic() < deadline, complaint
        time.sleep(every)
