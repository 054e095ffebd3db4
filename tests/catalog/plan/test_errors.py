"""What planners refuse, in their exact words: message, SQLSTATE, and a hint where there is one."""

from __future__ import annotations

import pytest

from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, run, session

__all__ = ["run", "session"]
SETUP = """
    CREATE SECRET pw AS 'x';
    CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s');
    CREATE TABLE bids FROM SOURCE house (REFERENCE bids);
    CREATE VIEW big AS SELECT id FROM bids;
"""
CASES = (
    ("DROP TABLE nope", "unknown catalog item 'nope'", "42P01", None),
    ("DROP TABLE bid", "unknown catalog item 'bid'", "42P01", 'Did you mean "bids"?'),
    ("DROP TABLE a.b.c", "unknown database 'a'", "3D000", None),
    ("DROP TABLE other.bids", "unknown schema 'other'", "3F000", None),
    ("DROP VIEW bids", "bids is a table not a view", "42809", None),
    (
        "DROP TABLE bids",
        'cannot drop table "bids": still depended upon by view "big"',
        "2BP01",
        "Use DROP .. CASCADE to drop the dependent objects too.",
    ),
    (
        "CREATE TABLE bids FROM SOURCE house (REFERENCE bids)",
        'table "headrace.public.bids" already exists',
        "42P07",
        None,
    ),
    (
        "CREATE SECRET mz_catalog.s AS 'x'",
        "system schema 'mz_catalog' cannot be modified",
        "42501",
        None,
    ),
    (
        "CREATE TABLE t FROM SOURCE house (REFERENCE nope)",
        "reference nope not found in source",
        "42704",
        "Add the table to the publication upstream, then ALTER SOURCE .. REFRESH REFERENCES.",
    ),
    (
        "CREATE TABLE t FROM SOURCE house (REFERENCE bids) WITH (TEXT COLUMNS (nope))",
        "invalid TEXT COLUMNS option value: column auction.bids.nope not found",
        "42703",
        "Its columns are amount, auction_id, bid_time, buyer, id.",
    ),
    (
        "CREATE TABLE t FROM SOURCE house (REFERENCE bids) "
        "WITH (TEXT COLUMNS (amount), EXCLUDE COLUMNS (amount))",
        'duplicated column name references: ["amount"]',
        "42701",
        None,
    ),
    (
        "CREATE TABLE t FROM SOURCE house (REFERENCE bids) "
        "WITH (EXCLUDE COLUMNS (id, amount, buyer, bid_time, auction_id))",
        "Table auction.bids had all columns excluded",
        "22023",
        None,
    ),
    (
        "CREATE TABLE t (a int, a text)",
        'column "a" specified more than once',
        "42701",
        None,
    ),
    (
        "CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)",
        'multiple primary keys for table "t" are not allowed',
        "42P16",
        None,
    ),
    (
        "CREATE TABLE t (a int, PRIMARY KEY (b))",
        'column "b" named in key does not exist',
        "42703",
        None,
    ),
    (
        "INSERT INTO bids VALUES (1)",
        "cannot insert into non-writeable table 'bids'",
        "0A000",
        "Its rows come from a source; write to the upstream table.",
    ),
    ("DELETE FROM big", "cannot delete from view 'big'", "0A000", None),
    ("UPDATE pw SET a = 1", "pw is a secret not a table", "42809", None),
    (
        "CREATE VIEW v (a, b) AS SELECT id FROM bids",
        "v definition names 2 columns, but the query has 1",
        "42601",
        None,
    ),
    (
        "CREATE OR REPLACE VIEW big AS SELECT id FROM big",
        'view "big" would depend on itself',
        "42P17",
        None,
    ),
    ("SET transaction_isolation = 'none'", None, "22023", None),
    (
        "SET real_time_recency = true",
        'invalid value for parameter "real_time_recency": "true"',
        "22023",
        "Reads are at the newest time that all inputs are complete at; waiting for upstream's "
        "present is not supported yet.",
    ),
    ("SET server_version = '1'", 'parameter "server_version" cannot be changed', "55P02", None),
)


@pytest.mark.parametrize(("sql", "message", "sqlstate", "hint"), CASES)
def test_refused(run: Run, sql: str, message: str | None, sqlstate: str, hint: str | None) -> None:
    run(SETUP)
    with pytest.raises(HeadraceError) as caught:
        run(sql)
    assert caught.value.sqlstate == sqlstate, caught.value.message
    if message is not None:
        assert caught.value.message == message
    if hint is not None:
        assert caught.value.hint == hint
