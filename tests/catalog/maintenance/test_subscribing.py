"""SUBSCRIBE to maintained views beside a maintainer that runs, across an apply and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from ingest.errors import HeadraceError
from tests.catalog.maintenance.conftest import Region
from tests.catalog.subscribing.conftest import Place, Reader

pytestmark = pytest.mark.spark

SUMS = "SELECT who, sum(n) AS n FROM t GROUP BY who"
WIDER = "SELECT who, sum(n) + CASE WHEN who = 'ada' THEN 1 ELSE 0 END AS n, count(*) AS c FROM t"


@pytest.fixture
def place(kept: Region) -> Iterator[Place]:
    kept.run("CREATE TABLE t (who text, n int)")
    kept.run("INSERT INTO t VALUES ('ada', 1), ('bob', 2), ('ada', 3)")
    kept.run(f"CREATE MATERIALIZED VIEW v AS {SUMS}")
    kept.run("CREATE MATERIALIZED VIEW top AS SELECT max(n) AS n FROM v")
    kept.hydrate()
    found = Place()
    yield found
    found.leave()


def _same(place: Place, reader: Reader, columns: str, name: str) -> int:
    """Read until what was written is told; the reader has what the view had just before."""
    end = reader.until_progress(place.now(name))
    want = place.rows(f"SELECT {columns} FROM {name} AS OF {end - 1}")
    assert reader.state(end) == want
    return end


def _changes(reader: Reader, after: int) -> Counter[tuple[str | None, ...]]:
    return Counter(r[2:] for r in reader.rows if r[1] == "f" and int(r[0] or 0) >= after)


def test_an_apply_is_exactly_the_difference(kept: Region, place: Place) -> None:
    reader = place.subscribe("SUBSCRIBE v WITH (PROGRESS)")
    top = place.subscribe("SUBSCRIBE top WITH (PROGRESS)")
    over = place.subscribe("SUBSCRIBE (SELECT n FROM v WHERE n > 1) WITH (PROGRESS)")
    kept.run("INSERT INTO t VALUES ('eve', 5)")
    before = _same(place, reader, "who, n", "v")
    _same(place, top, "n", "top")
    kept.run(f"CREATE REPLACEMENT r FOR MATERIALIZED VIEW v AS {WIDER} GROUP BY who")
    kept.hydrate()
    kept.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    after = _same(place, reader, "who, n", "v")
    assert reader.stream.relation.names[3:] == ("who", "n")
    assert _changes(reader, before) == Counter({("-1", "ada", "4"): 1, ("1", "ada", "5"): 1})
    wider = place.subscribe("SUBSCRIBE v WITH (PROGRESS)")
    assert wider.stream.relation.names[3:] == ("who", "n", "c")
    kept.run("INSERT INTO t VALUES ('bob', 9)")
    _same(place, wider, "*", "v")
    _same(place, reader, "who, n", "v")
    _same(place, top, "n", "top")
    end = over.until_progress(place.now("v"))
    assert over.state(end) == place.rows(f"SELECT n FROM v WHERE n > 1 AS OF {end - 1}")
    again = place.subscribe(f"SUBSCRIBE v WITH (PROGRESS, SNAPSHOT = false) AS OF {before - 1}")
    again.until_progress(reader.progress - 1)
    narrowed: Counter[tuple[str | None, ...]] = reader.state(before)
    for row in again.rows:
        if row[1] == "f" and int(row[0] or 0) < reader.progress:
            narrowed[row[3:5]] += int(row[2] or 0)
    assert +narrowed == reader.state(reader.progress)
    kept.run("ALTER MATERIALIZED VIEW v ROLLBACK REPLACEMENT")
    undone = _same(place, reader, "who, n", "v")
    assert undone > after
    assert reader.state(undone) == Counter({("ada", "4"): 1, ("bob", "11"): 1, ("eve", "5"): 1})


def test_an_undo_that_takes_a_column_away_ends_who_reads_it(kept: Region, place: Place) -> None:
    kept.run(f"CREATE REPLACEMENT r FOR MATERIALIZED VIEW v AS {WIDER} GROUP BY who")
    kept.hydrate()
    kept.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    wider = place.subscribe("SUBSCRIBE v WITH (PROGRESS)")
    _same(place, wider, "*", "v")
    kept.run("ALTER MATERIALIZED VIEW v ROLLBACK REPLACEMENT")
    with pytest.raises(HeadraceError, match='column "c" of "v" is not there any more') as caught:
        wider.to_the_end()
    assert caught.value.sqlstate == "42703"


def test_a_beginning_between_two_steps(kept: Region, place: Place) -> None:
    times = []
    for number in range(4):
        kept.run(f"INSERT INTO t VALUES ('bob', {number})")
        times.append(place.now("t"))
    end = place.now("v")
    for time in times:
        reader = place.subscribe(f"SUBSCRIBE v WITH (PROGRESS) AS OF {time} UP TO {end + 1}")
        reader.to_the_end()
        assert reader.state(time + 1) == place.rows(f"SELECT * FROM v AS OF {time}")
        assert reader.state(end + 1) == place.rows(f"SELECT * FROM v AS OF {end}")
