"""SHOW CHANGES FOR REPLACEMENT: the rows that an apply would change, and what it then changes."""

from __future__ import annotations

import pytest

from catalog.session import Session, role_for
from tests.catalog.maintenance.conftest import REGION, Region

pytestmark = pytest.mark.spark


def test_the_staged_rows_are_what_an_apply_changes(kept: Region) -> None:
    kept.run("CREATE TABLE t (who text, n int)")
    kept.run("INSERT INTO t VALUES ('ada', 1), ('bob', 2), ('ada', 3)")
    kept.run("CREATE MATERIALIZED VIEW v AS SELECT who, sum(n) AS n FROM t GROUP BY who")
    kept.run(
        "CREATE REPLACEMENT r FOR MATERIALIZED VIEW v AS "
        "SELECT who, sum(n) + CASE who WHEN 'bob' THEN 0 ELSE 10 END AS n FROM t GROUP BY who"
    )
    kept.hydrate()
    changes = "SHOW CHANGES FOR REPLACEMENT r"
    assert sorted(kept.run(changes)) == [(-1, "ada", 4), (1, "ada", 14)]
    assert len(kept.run(f"{changes} LIMIT 1")) == 1
    session = Session(role_for(REGION, "ada@example.com", superuser=True))
    described = session.describe(changes).relation
    assert described is not None
    assert described.names == ("mz_diff", "who", "n")
    kept.run("INSERT INTO t VALUES ('eve', 5)")
    kept.hydrate()
    staged = sorted(kept.run(changes))
    assert staged == [(-1, "ada", 4), (-1, "eve", 5), (1, "ada", 14), (1, "eve", 15)]
    before = kept.run("SELECT * FROM v")
    kept.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    after = kept.run("SELECT * FROM v")
    gone = [(-1, *row) for row in before if row not in after]
    come = [(1, *row) for row in after if row not in before]
    assert sorted(gone + come) == staged


def test_a_new_column_is_null_in_what_goes(kept: Region) -> None:
    kept.run("CREATE TABLE t (a int, b int)")
    kept.run("INSERT INTO t VALUES (1, 2)")
    kept.run("CREATE MATERIALIZED VIEW v AS SELECT a FROM t")
    kept.run("CREATE REPLACEMENT r FOR MATERIALIZED VIEW v AS SELECT a, b FROM t")
    kept.hydrate()
    assert set(kept.run("SHOW CHANGES FOR REPLACEMENT r")) == {(-1, 1, None), (1, 1, 2)}
    kept.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert kept.run("SELECT * FROM v") == [(1, 2)]
    kept.run("ALTER MATERIALIZED VIEW v ROLLBACK REPLACEMENT")
    assert kept.run("SELECT * FROM v") == [(1,)]
