"""A session lasts a while, and as long as what it was given out for."""

from __future__ import annotations

import threading
import time
from typing import Any

import pyarrow as pa
import pytest

from ingest import spark
from ingest.contract.plane import Plane
from ingest.errors import HeadraceError

pytestmark = pytest.mark.spark

SLOW = "select count(*) from range(10000000000) a, range(10000) b where a.id % 7 = b.id % 11"
"""Its tasks look whether they are to end; those of a sum over a range alone do not."""


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "LIFETIME", 0.0)


def _known(live: Any) -> str:
    return str(live.session_id)


def test_the_next_work_has_another_session(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    first = spark.run(plane, _known, repeat=True)
    assert spark.run(plane, _known, repeat=True) != first
    monkeypatch.setattr(spark, "LIFETIME", 60.0)
    second = spark.run(plane, _known, repeat=True)
    assert spark.run(plane, _known, repeat=True) == second
    assert spark.run(plane, _known, "views", repeat=True) != second


def test_many_local_rows_end_a_session(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server keeps them until then; of sessions for one work alone nothing is counted."""
    monkeypatch.setattr(spark, "LIFETIME", 60.0)
    rows = pa.table({"n": list(range(1000))})
    monkeypatch.setattr(spark, "MOST_SENT", 2 * rows.nbytes)

    def send(live: Any) -> tuple[str, int]:
        return _known(live), spark.local(live, rows).count()

    found = [spark.run(plane, send, repeat=True) for _ in range(4)]
    assert [count for _, count in found] == [1000] * 4
    first, second, third, fourth = (each for each, _ in found)
    assert first == second == third != fourth
    assert spark.apart(plane, send) not in found
    assert spark.run(plane, _known, repeat=True) == fourth


def test_it_ends_with_the_last_work_that_uses_it(plane: Plane) -> None:
    def outer(live: Any) -> tuple[Any, int]:
        inner = spark.run(plane, _known, repeat=True)
        assert inner != _known(live)
        assert [one.live for one in spark._sessions[plane.remote, "read"][:-1]] == [live]
        return live, live.range(7).count()

    live, count = spark.run(plane, outer, repeat=False)
    assert count == 7
    assert spark._sessions[plane.remote, "read"][:-1] == []
    with pytest.raises((*spark.FAILURES, ValueError)):
        live.range(7).count()


def test_what_runs_in_a_replaced_session_can_be_stopped(plane: Plane) -> None:
    started, told = threading.Event(), list[HeadraceError]()

    def slow(live: Any) -> None:
        live.addTag("slow")
        started.set()
        live.sql(SLOW).collect()

    def work() -> None:
        try:
            spark.run(plane, slow, repeat=False)
        except HeadraceError as error:
            told.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(30)
    spark.run(plane, _known, repeat=True)
    until = time.monotonic() + 60
    while thread.is_alive() and time.monotonic() < until:
        spark.interrupt(plane, "slow")
        thread.join(0.2)
    assert [error.sqlstate for error in told] == ["57014"]
