"""SELECT over constants, the system catalog and sources' progress: no Spark is needed."""

from __future__ import annotations

import pytest

from catalog.errors import InvalidStatement, NotSupported
from catalog.session import Session
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of

AUCTION = "CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')"


def test_constants(run: Run) -> None:
    assert rows_of(run("SELECT 1 + 1 AS two")[0]) == [(2,)]


def test_parameters(session: Session) -> None:
    (result,) = session.execute("SELECT $1 AS n", ["41"])
    assert rows_of(result) == [("41",)]
    with pytest.raises(HeadraceError, match=r"there is no parameter \$2"):
        list(session.execute("SELECT $2", ["1"]))


def test_system_catalog(run: Run) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    assert rows_of(run("SELECT name, source_id FROM mz_tables")[0]) == [("bids", "u1")]
    rows = rows_of(run("SELECT name FROM mz_internal.mz_source_references ORDER BY name")[0])
    assert [row[0] for row in rows] == ["accounts", "auctions", "bids", "organizations", "users"]


def test_progress_of_a_source(run: Run) -> None:
    run(AUCTION)
    (result,) = run("SELECT * FROM house")
    assert [int(str(row[0])) for row in rows_of(result)] == [0]


def test_not_readable_yet(run: Run) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    run("SET statement_timeout = '100ms'")
    with pytest.raises(HeadraceError, match='table "bids" is not readable yet: validate'):
        run("SELECT * FROM bids")


def test_views(run: Run) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    run("CREATE VIEW big AS SELECT id, amount FROM bids WHERE amount > 10")
    (shown,) = run("SHOW CREATE VIEW big")
    assert "headrace.public.bids" in str(rows_of(shown)[0][1])
    assert rows_of(run("SHOW COLUMNS FROM big")[0])[0][0] == "id"
    with pytest.raises(HeadraceError, match='still depended upon by view "big"'):
        run("DROP TABLE bids")
    run("ALTER TABLE bids RENAME TO offers")
    (shown,) = run("SHOW CREATE VIEW big")
    assert "headrace.public.offers" in str(rows_of(shown)[0][1])


def test_as_of(run: Run) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    with pytest.raises(InvalidStatement, match="is in the future"):
        run("SELECT * FROM bids AS OF 99999999999999")


def test_read_only(run: Run) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    with pytest.raises(HeadraceError, match="cannot insert into non-writeable table 'bids'"):
        run("INSERT INTO bids VALUES (1)")


def test_show_of_every_kind(run: Run) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    for kind in (
        "SECRETS",
        "CONNECTIONS",
        "SOURCES",
        "TABLES",
        "VIEWS",
        "MATERIALIZED VIEWS",
        "SINKS",
        "TYPES",
        "ROLES",
        "CLUSTERS",
        "SCHEMAS",
        "DATABASES",
        "OBJECTS",
    ):
        rows_of(run(f"SHOW {kind}")[0])
        rows_of(run(f"SHOW {kind} LIKE '%'")[0])
    assert ("ada@example.com", "") in rows_of(run("SHOW ROLES")[0])
    assert rows_of(run("SHOW TABLES WHERE name = 'bids'")[0]) == [("bids", "")]
    assert rows_of(run("SHOW TABLES WHERE name = 'other'")[0]) == []
    columns = rows_of(run("SHOW COLUMNS FROM bids WHERE type = 'integer'")[0])
    assert "amount" in [row[0] for row in columns]
    assert ("mz_tables", "") in rows_of(run("SHOW TABLES FROM mz_catalog")[0]) + rows_of(
        run("SHOW VIEWS FROM mz_catalog")[0]
    )
    assert rows_of(run("SHOW COLUMNS FROM mz_tables")[0])[0][0] == "id"
    with pytest.raises(HeadraceError, match="unknown catalog item 'nope'"):
        run("SHOW COLUMNS FROM nope WHERE name = 'x'")
    with pytest.raises(HeadraceError, match="unknown schema 'nope'"):
        run("SHOW SINKS FROM nope")
    with pytest.raises(NotSupported, match="SHOW INDEXES statements are not supported yet"):
        run("SHOW INDEXES ON bids")


def test_discard(run: Run) -> None:
    run("SET database = other; DISCARD ALL")
    assert rows_of(run("SHOW database")[0]) == [("headrace",)]


def test_views_of_the_system_catalog(run: Run) -> None:
    run("CREATE VIEW mine AS SELECT name FROM mz_databases")
    assert rows_of(run("SELECT * FROM mine")[0]) == [("headrace",)]
    with pytest.raises(NotSupported, match="materialized views over system catalog") as caught:
        run("CREATE MATERIALIZED VIEW kept AS SELECT name FROM mz_tables")
    assert caught.value.hint == "CREATE VIEW can read them."


@pytest.mark.parametrize(
    ("query", "stored"),
    [
        ("SELECT * FROM bids", "bids.id, bids.buyer"),
        ("SELECT b.*, 1 AS one FROM bids AS b", "b.id, b.buyer"),
        (
            "SELECT * FROM bids JOIN auctions USING (id)",
            "SELECT id, bids.buyer",
        ),
        ("WITH w AS (SELECT * FROM bids) SELECT * FROM w", "w.id, w.buyer"),
        ("SELECT * FROM (SELECT * FROM bids) AS s (k)", "s.k, s.buyer"),
        ("SELECT * FROM bids UNION ALL SELECT * FROM bids", "UNION ALL SELECT bids.id"),
        ("SELECT n FROM (SELECT count(*) AS n FROM bids) AS c", "COUNT(*)"),
    ],
)
def test_star_is_written_out_in_a_view(run: Run, query: str, stored: str) -> None:
    run(f"{AUCTION}; CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    run("CREATE TABLE auctions FROM SOURCE house (REFERENCE auctions)")
    run(f"CREATE VIEW v AS {query}")
    (shown,) = run("SHOW CREATE VIEW v")
    text = " ".join(str(rows_of(shown)[0][1]).split())
    assert stored in text
    assert "*" not in text.replace("COUNT(*)", "")
    names = [row[0] for row in rows_of(run("SHOW COLUMNS FROM v")[0])]
    (again,) = run(f"CREATE OR REPLACE VIEW v AS {text.split(' AS ', 1)[1]}; SHOW COLUMNS FROM v")[
        1:
    ]
    assert [row[0] for row in rows_of(again)] == names
