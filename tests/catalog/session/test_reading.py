"""SELECT over constants, the system catalog and sources' progress: no Spark is needed."""

from __future__ import annotations

import pytest

from catalog.errors import InvalidStatement
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
