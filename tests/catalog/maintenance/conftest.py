"""A region with its maintainer, worker and door in one process, on a real Spark."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings

from catalog import snapshot
from catalog.maintenance import hydrating
from catalog.maintenance.maintainer import Maintainer
from catalog.models import ViewProgress
from catalog.results import Rows
from catalog.session import Session, role_for
from ingest.contract.plane import Plane

REGION = "local/embedded"


@dataclass
class Region:
    """Statements, and turns of the maintainer when the test wants them."""

    session: Session
    maintainer: Maintainer = field(default_factory=lambda: Maintainer(REGION, "here:0:test"))

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of the last statement."""
        *_, last = [None, *self.session.execute(sql)]
        return rows_of(last)

    def hydrate(self) -> None:
        """Compute what has no rows yet, in the order it can be."""
        while any(hydrating.hydrate(REGION, shard) for shard in hydrating.wanted(REGION)):
            pass

    def keep(self) -> None:
        """Let one round of the maintainer come to its end."""
        self.maintainer._next_round = 0.0
        self.maintainer.turn()
        until = time.monotonic() + 60
        while self.maintainer.busy:
            assert time.monotonic() < until
            time.sleep(0.02)
            self.maintainer.turn()

    def killed(self, point: str, what: str) -> None:
        """Let another process do it, which ends itself at a fail point."""
        database = str(connection.settings_dict["NAME"])
        plane: Plane = settings.HEADRACE_PLANE
        places = {"HEADRACE_REMOTE": plane.remote, "HEADRACE_WAREHOUSE": plane.warehouse}
        done = subprocess.run(
            [sys.executable, "-m", "tests.catalog.maintenance.alone", database, point, what],
            env={**os.environ, **places, "DJANGO_SETTINGS_MODULE": "tests.settings"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == -9, done.stderr

    def progress(self, name: str) -> ViewProgress:
        """What is known of a view's data."""
        entry = snapshot.current(REGION).by_path["headrace", "public", name]
        return ViewProgress.objects.get(shard=entry.shard)


def rows_of(result: object) -> list[tuple[object, ...]]:
    if not isinstance(result, Rows):
        return []
    return [tuple(row.values()) for row in result.data.to_pylist()]


@pytest.fixture
def region(transactional_db: None, plane: Plane) -> Iterator[Region]:
    with override_settings(HEADRACE_PLANE=plane):
        found = Region(Session(role_for(REGION, "ada@example.com", superuser=True)))
        yield found
        found.maintainer._steps.close()
        found.maintainer._staging.close()


@pytest.fixture
def kept(region: Region) -> Iterator[Region]:
    """A region whose maintainer runs beside the test."""
    stop = threading.Event()
    thread = threading.Thread(target=region.maintainer.run, args=(stop,))
    thread.start()
    yield region
    stop.set()
    thread.join()
