"""Regions of a whole product: statements in each, and waiting for what they lead to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.services.product import Product, SqlFailure

BUSY = {"HEADRACE_FOLD_ROWS": "500", "HEADRACE_LOG_FILES": "8", "HEADRACE_UPKEEP_SECONDS": "5"}
"""Settings of a product that folds tails and joins logs early and often."""


@dataclass(frozen=True)
class Region:
    """One region at the front door."""

    product: Product
    name: str

    def sql(self, text: str) -> list[list[str | None]]:
        """Rows of the last statement; raises SqlFailure at the first error."""
        rows: list[list[str | None]] = []
        answer = self.product.post(f"/api/sql?region={self.name}", {"query": text})
        for result in answer["results"]:
            if "error" in result:
                raise SqlFailure(result["error"], text)
            rows = result.get("rows", [])
        return rows

    def value(self, text: str) -> str | None:
        """The first value of the first row."""
        return self.sql(text)[0][0]

    def equals(self, text: str, value: object) -> bool:
        """Whether that is what it says now; what is not readable yet says nothing."""
        try:
            return str(self.value(text)) == str(value)
        except SqlFailure:
            return False

    def becomes(self, text: str, value: object, seconds: float = 240) -> None:
        """Wait until that is what it says."""
        deadline = time.monotonic() + seconds
        while not self.equals(text, value):
            assert time.monotonic() < deadline, (self.name, text, value, self.results(text))
            time.sleep(0.3)

    def results(self, text: str) -> object:
        """What a text gives, errors among it."""
        return self.product.post(f"/api/sql?region={self.name}", {"query": text})["results"]

    def running(self, *names: str) -> bool:
        """Whether these sources, subsources and tables are."""
        rows = self.sql("SELECT name, status FROM mz_internal.mz_source_statuses")
        found = {row[0]: row[1] for row in rows}
        return all(found.get(name) == "running" for name in names)


def until(done: Callable[[], bool], seconds: float = 240) -> None:
    """Wait for it; fails when it takes longer."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, done
        time.sleep(0.3)


def connection(password: str, host: str, port: int, user: str, database: str) -> str:
    """The statements that make a secret and a connection `pg`."""
    return (
        f"CREATE SECRET pw AS '{password}';"
        f"CREATE CONNECTION pg TO POSTGRES (HOST '{host}', PORT {port}, "
        f"DATABASE '{database}', USER '{user}', PASSWORD SECRET pw)"
    )
