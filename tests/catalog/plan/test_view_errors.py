"""What planners refuse of materialized views and replacements, in their exact words."""

from __future__ import annotations

import pytest

from catalog.models import ViewProgress
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, run, session

__all__ = ["run", "session"]
SETUP = """
    CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s');
    CREATE TABLE t FROM SOURCE house (REFERENCE bids);
    CREATE VIEW plain AS SELECT id FROM t;
    CREATE VIEW timed AS SELECT id FROM t WHERE bid_time < now();
    CREATE MATERIALIZED VIEW mv AS SELECT id AS a, buyer AS b FROM t;
    CREATE MATERIALIZED VIEW mv2 AS SELECT a FROM mv;
    CREATE VIEW over AS SELECT a, 1::bigint AS b FROM mv2;
    CREATE REPLACEMENT MATERIALIZED VIEW r2 FOR mv2 AS SELECT id AS a FROM t;
    CREATE REPLACEMENT MATERIALIZED VIEW r FOR mv AS SELECT id + 1 AS a, buyer AS b FROM t;
    CREATE REPLACEMENT MATERIALIZED VIEW circle FOR mv AS SELECT id AS a, id AS b FROM t;
    CREATE MATERIALIZED VIEW lone AS SELECT id AS a, id AS b FROM t;
    CREATE REPLACEMENT MATERIALIZED VIEW round FOR lone AS SELECT a, b FROM mv;
"""
NEW = "CREATE REPLACEMENT MATERIALIZED VIEW rp FOR mv AS "
DIFFERS = "replacement schema differs from target schema"
ITSELF = "replacement would cause mv to depend on itself"
CASES = (
    (
        "CREATE REPLACEMENT MATERIALIZED VIEW rp FOR t AS SELECT 1",
        "cannot replace table t with materialized view rp",
        "42809",
    ),
    (
        "CREATE REPLACEMENT MATERIALIZED VIEW rp FOR plain AS SELECT id FROM t",
        "cannot replace view plain with materialized view rp",
        "42809",
    ),
    (
        "CREATE REPLACEMENT MATERIALIZED VIEW rp FOR r AS SELECT 1",
        "replacement materialized view r cannot be depended upon",
        "42809",
    ),
    (
        "ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT t",
        "t is a table not a materialized view",
        "42809",
    ),
    (
        "ALTER MATERIALIZED VIEW t APPLY REPLACEMENT r",
        "t is a table not a materialized view",
        "42809",
    ),
    (
        "ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT r2",
        "cannot replace materialized view mv with materialized view r2",
        "42809",
    ),
    (
        "ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT mv2",
        "cannot replace materialized view mv with materialized view mv2",
        "42809",
    ),
    (NEW + "SELECT a, b FROM mv", ITSELF, "42P17"),
    (NEW + "SELECT a, a AS b FROM mv2", ITSELF, "42P17"),
    (NEW + "SELECT a, b FROM over", ITSELF, "42P17"),
    (
        "CREATE VIEW v AS SELECT * FROM r",
        "replacement materialized view r cannot be depended upon",
        "42809",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT * FROM t JOIN r ON r.a = t.id",
        "replacement materialized view r cannot be depended upon",
        "42809",
    ),
    (NEW + "SELECT id FROM nope", "unknown catalog item 'nope'", "42P01"),
    ("CREATE MATERIALIZED VIEW v AS SELECT now() AS n", "cannot materialize call to now", "0A000"),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT mz_now() AS n FROM t",
        "cannot materialize call to mz_now",
        "0A000",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT id FROM timed",
        "cannot materialize call to now",
        "0A000",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT id FROM t ORDER BY random() LIMIT 1",
        "cannot materialize call to random",
        "0A000",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT * FROM house",
        "materialized views over the progress of a source are not supported yet",
        "0A000",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT name FROM mz_tables",
        "materialized views over system catalog relations are not supported",
        "0A000",
    ),
    ("CREATE MATERIALIZED VIEW v IN CLUSTER big AS SELECT 1", "unknown cluster 'big'", "42704"),
    (
        "CREATE MATERIALIZED VIEW mv AS SELECT 1",
        'materialized view "headrace.public.mv" already exists',
        "42P07",
    ),
    (
        "CREATE MATERIALIZED VIEW v (a, b) AS SELECT 1",
        "v definition names 2 columns, but the query has 1",
        "42601",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT 1 AS a, 2 AS a",
        'column "a" specified more than once',
        "42701",
    ),
    (
        "CREATE MATERIALIZED VIEW v WITH (REFRESH ON COMMIT, REFRESH AT CREATION) AS SELECT 1",
        "REFRESH ON COMMIT is not compatible with any of the other REFRESH options",
        "22023",
    ),
    (
        "CREATE MATERIALIZED VIEW v WITH (REFRESH EVERY '1 month') AS SELECT 1",
        'interval must not contain months or years: "1 month"',
        "22007",
    ),
    (
        "CREATE MATERIALIZED VIEW v WITH (REFRESH EVERY '0s') AS SELECT 1",
        "REFRESH EVERY interval must be positive",
        "22023",
    ),
    (
        "CREATE MATERIALIZED VIEW v WITH (REFRESH AT 'noon') AS SELECT 1",
        'invalid input syntax for type mz_timestamp: "noon"',
        "22007",
    ),
    (
        NEW.replace(" AS ", " WITH (APPLY WHEN HYDRATED, WINDOW '9-5') AS ")
        + "SELECT id AS a, buyer AS b FROM t",
        "invalid WINDOW: expected 'HH:MM-HH:MM'",
        "22023",
    ),
    (
        "DROP MATERIALIZED VIEW lone",
        'cannot drop materialized view "lone": still depended upon by materialized view "round"',
        "2BP01",
    ),
    ("DROP REPLACEMENT mv", "mv is a materialized view not a replacement", "42809"),
    ("DROP VIEW mv", "mv is a materialized view not a view", "42809"),
    ("INSERT INTO mv VALUES (1)", "cannot insert into materialized view 'mv'", "0A000"),
    ("DELETE FROM mv", "cannot delete from materialized view 'mv'", "0A000"),
    ("SHOW CHANGES FOR REPLACEMENT mv", "mv is a materialized view not a replacement", "42809"),
    (
        "SHOW CHANGES FOR REPLACEMENT r",
        'materialized view "mv" is not hydrated yet: 0%',
        "55000",
    ),
    (
        "ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT",
        'materialized view "mv" has no applied replacement to roll back',
        "55000",
    ),
    ("COMMENT ON VIEW mv IS 'x'", "mv is a materialized view not a view", "42809"),
)
LINES = (
    ("SELECT id AS a FROM t", ['missing column "b" at position 2']),
    (
        "SELECT id AS c, buyer AS b FROM t",
        ['column at position 1: name mismatch (target: "a", replacement: "c")'],
    ),
    (
        "SELECT id::text AS a, buyer AS b FROM t",
        ['column "a" at position 1: type mismatch (target: Int64, replacement: String)'],
    ),
    (
        "SELECT buyer AS b, id AS a, 1 AS c FROM t",
        [
            'column at position 1: name mismatch (target: "a", replacement: "b")',
            'column at position 2: name mismatch (target: "b", replacement: "a")',
        ],
    ),
    (
        "SELECT id::numeric(8, 2) AS a FROM t",
        [
            'column "a" at position 1: type mismatch (target: Int64, replacement: Numeric(8,2))',
            'missing column "b" at position 2',
        ],
    ),
)


@pytest.fixture
def ready(run: Run) -> Run:
    run(SETUP)
    return run


def _error(run: Run, sql: str) -> HeadraceError:
    with pytest.raises(HeadraceError) as caught:
        run(sql)
    return caught.value


def test_refused(ready: Run) -> None:
    errors = {sql: _error(ready, sql) for sql, _, _ in CASES}
    found = [(sql, errors[sql].message, errors[sql].sqlstate) for sql, _, _ in CASES]
    assert [pair for pair in zip(found, CASES, strict=True) if pair[0] != pair[1]] == []


def test_every_difference_is_a_line_of_detail(ready: Run) -> None:
    for query, lines in LINES:
        error = _error(ready, NEW + query)
        assert error.message == DIFFERS
        assert error.detail == "\n".join(lines)


def test_more_columns_fit(ready: Run) -> None:
    ready(NEW + "SELECT id AS a, buyer AS b, amount FROM t")


def test_schemas_are_compared_again_at_apply(ready: Run) -> None:
    ViewProgress.objects.update(hydrated=True)
    ready(NEW + "SELECT id AS a, buyer AS b, amount FROM t")
    ViewProgress.objects.update(hydrated=True)
    ready("ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT rp")
    with pytest.raises(HeadraceError) as caught:
        ready("ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT r")
    assert caught.value.message == DIFFERS
    assert caught.value.detail == 'missing column "amount" at position 3'


def test_circles_are_looked_for_again_at_apply(ready: Run) -> None:
    ready("CREATE REPLACEMENT MATERIALIZED VIEW rp FOR mv AS SELECT a, b FROM lone")
    ViewProgress.objects.update(hydrated=True)
    ready("ALTER MATERIALIZED VIEW lone APPLY REPLACEMENT round")
    with pytest.raises(HeadraceError) as caught:
        ready("ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT rp")
    assert caught.value.message == ITSELF
