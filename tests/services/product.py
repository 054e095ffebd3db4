"""The whole product, as `make run` starts it, in a home of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from json import dumps, loads
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings

from tests.services import process

ROOT = Path(__file__).resolve().parent.parent.parent
EMAIL = "owner@example.com"


class SqlFailure(AssertionError):
    """A statement's error, as `/api/sql` gave it."""

    def __init__(self, error: dict[str, Any], sql: str) -> None:
        super().__init__(f"{error.get('message')} ({error.get('code')}): {sql[:200]}")
        self.error = error


@dataclass
class Product:
    """A running product; `sql` goes through the front door, `POST /api/sql`."""

    home: Path
    port: int
    environment: dict[str, str]
    password: str = ""
    supervisor: subprocess.Popen[bytes] | None = None
    email: str = EMAIL
    _connection: HTTPConnection | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where the console is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Run the supervisor and wait until the web process answers."""
        log = self.home / "supervisor.log"
        command = [sys.executable, str(ROOT / "manage.py"), "up"]
        self.supervisor = process.start(command, log, self.environment)
        process.wait_for(lambda: b"Headrace runs at" in log.read_bytes(), self.supervisor, log)
        if not self.password:
            self.password = self.manage("app_password", self.email).strip()

    def manage(self, *arguments: str) -> str:
        """What a management command prints in the running product's home."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.supervisor is not None:
            process.stop(self.supervisor, grace=60)
            self.supervisor = None

    def results(self, sql: str) -> list[dict[str, Any]]:
        """`/api/sql`'s results, errors among them."""
        return list(self.post("/api/sql", {"query": sql})["results"])

    def sql(self, sql: str) -> list[list[str | None]]:
        """Rows of the last statement; raises SqlFailure at the first error."""
        rows: list[list[str | None]] = []
        for result in self.results(sql):
            if "error" in result:
                failure = SqlFailure(result["error"], sql)
                if result["error"].get("code") == "XX000":
                    failure.add_note(self._last_fault())
                raise failure
            rows = result.get("rows", [])
        return rows

    def _last_fault(self) -> str:
        """What the web process logged of its last fault: its answer does not tell."""
        log = self.home / "logs" / "web.log"
        text = log.read_text(errors="replace") if log.exists() else ""
        return text[max(text.rfind("a statement failed for a reason of ours"), 0) :][:8000]

    def value(self, sql: str) -> str | None:
        """The first value of the first row."""
        return self.sql(sql)[0][0]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """A JSON request as the owner; a connection cut by a restart is opened again once."""
        credentials = b64encode(f"{self.email}:{self.password}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        for attempt in (1, 2):
            try:
                if self._connection is None:
                    self._connection = HTTPConnection("127.0.0.1", self.port, timeout=300)
                self._connection.request("POST", path, dumps(body), headers)
                answer = self._connection.getresponse()
                text = answer.read()
                assert answer.status < 400, f"{answer.status} {text[:500]!r}"
                return loads(text)
            except (ConnectionError, OSError):
                self._connection = None
                if attempt == 2:
                    raise
        raise AssertionError

    def processes(self, *words: str) -> Sequence[psutil.Process]:
        """Processes of this product whose command line has every word."""
        assert self.supervisor is not None
        found = psutil.Process(self.supervisor.pid).children(recursive=True)
        return [p for p in found if _has_words(p, words)]


def _has_words(one: psutil.Process, words: Sequence[str]) -> bool:
    """Whether the process's command line has every word; one that has ended has none."""
    with suppress(psutil.Error):
        line = one.cmdline()
        return all(word in line for word in words)
    return False


@contextmanager
def running(**settings_: str) -> Iterator[Product]:
    """A fresh product; extra environment variables by keyword."""
    home = Path(tempfile.mkdtemp(prefix="headrace-home-"))
    port = process.free_port()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEADRACE_")}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "HEADRACE_HOME": str(home),
        "HEADRACE_JARS": str(settings.HEADRACE_JARS),
        "HEADRACE_PORT": str(port),
        "HEADRACE_PGPORT": str(process.free_port()),
    }
    _lend_archives(home)
    product = Product(home, port, environment | settings_)
    try:
        product.start()
        yield product
    finally:
        product.stop()
        shutil.rmtree(home, ignore_errors=True)


def _lend_archives(home: Path) -> None:
    """Give the home the class archives of earlier runs, as every start but the first has."""
    target = home / "spark"
    target.mkdir()
    for archive in (settings.HEADRACE_JARS.parent / "spark").glob("classes-*.jsa"):
        try:
            os.link(archive, target / archive.name)
        except OSError:
            shutil.copy2(archive, target / archive.name)
