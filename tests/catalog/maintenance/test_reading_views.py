"""What is read from maintained views, and when: always what the query would give."""

from __future__ import annotations

import threading

import pytest

from catalog.results import Rows
from catalog.session import Session, role_for
from ingest.errors import HeadraceError
from tests.catalog.maintenance.conftest import REGION, Region, rows_of

pytestmark = pytest.mark.spark

TOTALS = "SELECT who, sum(n) AS total FROM t GROUP BY who"


@pytest.fixture
def totals(region: Region) -> Region:
    region.run("CREATE TABLE t (who text, n int)")
    region.run("INSERT INTO t VALUES ('ada', 1), ('bob', 2)")
    region.run(f"CREATE MATERIALIZED VIEW totals AS {TOTALS}")
    region.run("CREATE MATERIALIZED VIEW whole AS SELECT sum(total) AS n FROM totals")
    return region


def asked(region: Region, sql: str) -> tuple[list[tuple[object, ...]], int]:
    (result,) = region.session.execute(sql)
    assert isinstance(result, Rows)
    return sorted(rows_of(result), key=str), result.timestamp or 0


def test_as_of_equals_the_query_at_every_time(totals: Region) -> None:
    _, early = asked(totals, "SELECT * FROM t")
    totals.hydrate()
    times = [early]
    for n in range(3):
        totals.run(f"INSERT INTO t VALUES ('eve', {n}), ('ada', {n})")
        times.append(asked(totals, "SELECT * FROM t")[1])
        if n != 1:
            totals.keep()
            totals.keep()
            times.append(totals.progress("totals").complete_through)
    for time in times:
        for view, query in (("totals", TOTALS), ("whole", "SELECT sum(n) FROM t")):
            mine, at = asked(totals, f"SELECT * FROM {view} AS OF {time}")
            assert at == time
            assert mine == asked(totals, f"{query} AS OF {time}")[0], (view, time)


def test_a_write_is_seen_at_once(totals: Region) -> None:
    totals.hydrate()
    stop = threading.Event()
    keeper = threading.Thread(target=totals.maintainer.run, args=(stop,))
    keeper.start()
    try:
        totals.run("INSERT INTO t VALUES ('ada', 40)")
        assert ("ada", 41) in asked(totals, "SELECT * FROM totals")[0]
        assert asked(totals, "SELECT n FROM whole")[0] == [(43,)]
        totals.run("DELETE FROM t WHERE who = 'bob'")
        assert asked(totals, "SELECT who, total FROM totals")[0] == [("ada", 41)]
        other = Session(role_for(REGION, "bob@example.com", superuser=True))
        (seen,) = other.execute("SELECT n FROM whole")
        assert rows_of(seen) == [(41,)]
        _agree(totals)
    finally:
        stop.set()
        keeper.join()


def _agree(region: Region) -> None:
    """A view beside its table in one query, while another session writes."""
    over = threading.Event()

    def write() -> None:
        session = Session(role_for(REGION, "eve@example.com", superuser=True))
        for n in range(6):
            list(session.execute(f"INSERT INTO t VALUES ('w', {n})"))
        over.set()

    writer = threading.Thread(target=write)
    writer.start()
    looks = 0
    while not over.is_set() or looks < 3:
        looks += 1
        sql = "SELECT (SELECT n FROM whole), (SELECT sum(n) FROM t)"
        ((mine, theirs),) = asked(region, sql)[0]
        assert mine == theirs
    writer.join()


def test_a_query_that_fails_says_so_until_its_rows_change(region: Region) -> None:
    region.run("CREATE TABLE d (id int, n int)")
    region.run("INSERT INTO d VALUES (1, 1)")
    region.run("CREATE MATERIALIZED VIEW q AS SELECT id, 10 / n AS part FROM d")
    region.run("CREATE MATERIALIZED VIEW fine AS SELECT count(*) AS n FROM d")
    region.hydrate()
    region.run("INSERT INTO d VALUES (2, 0)")
    region.keep()
    region.keep()
    row = region.progress("q")
    assert (row.status, row.sqlstate) == ("stalled", "22012")
    assert region.progress("fine").status == "running"
    assert region.run("SELECT n FROM fine") == [(2,)]
    with pytest.raises(HeadraceError, match="division by zero") as caught:
        region.run("SELECT * FROM q")
    assert caught.value.sqlstate == "22012"
    region.run("DELETE FROM d WHERE id = 2")
    region.keep()
    region.keep()
    assert region.progress("q").status == "running"
    assert region.run("SELECT * FROM q") == [(1, 10)]


def test_a_view_that_is_behind_is_computed(
    totals: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalog.time.moments.LAG", 0.2)
    totals.hydrate()
    totals.run("INSERT INTO t VALUES ('eve', 9)")
    assert asked(totals, "SELECT n FROM whole")[0] == [(12,)]
    shown = asked(totals, "EXPLAIN TIMESTAMP FOR SELECT n FROM whole")[0]
    assert shown[0][1:] == ("headrace.public.whole", totals.progress("whole").complete_through)


def test_not_readable_yet(totals: Region) -> None:
    totals.run("SET statement_timeout = '100ms'")
    with pytest.raises(HeadraceError, match='"totals" is not readable yet: created'):
        totals.run("SELECT * FROM totals")


def test_a_view_that_was_refreshed_once(region: Region) -> None:
    region.run("CREATE TABLE t (n int)")
    region.run("INSERT INTO t VALUES (1)")
    region.run("CREATE MATERIALIZED VIEW once WITH (REFRESH AT CREATION) AS SELECT n FROM t")
    region.hydrate()
    _, early = asked(region, "SELECT n FROM once")
    region.run("INSERT INTO t VALUES (2)")
    region.keep()
    rows, time = asked(region, "SELECT n FROM once")
    assert rows == [(1,)]
    assert time > early
