"""INSERTs between BEGIN and COMMIT: what is refused, and when; the rows themselves need Spark."""

from __future__ import annotations

import pytest

from catalog.session import Session
from ingest import engine
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, tag_of


@pytest.fixture
def written(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Two plain tables without data, and the queries that would have been written to them."""
    found: list[object] = []

    def insert(_: object, target: object, source: object, time: int) -> int:
        found.append((target, source))
        return 3

    monkeypatch.setattr(engine, "create_table", lambda *_: None)
    monkeypatch.setattr(engine, "insert", insert)
    run("CREATE TABLE notes (id int, text text DEFAULT 'none'); CREATE TABLE other (id int)")
    return found


def refused(run: Run, sql: str) -> HeadraceError:
    with pytest.raises(HeadraceError) as caught:
        run(sql)
    return caught.value


def test_inserts_are_written_once_at_commit(
    session: Session, run: Run, written: list[object]
) -> None:
    run("BEGIN")
    assert tag_of(run("INSERT INTO notes VALUES (1, 'a'), (2, 'b')")[0]) == "INSERT 0 2"
    assert tag_of(run("INSERT INTO notes (id) VALUES (3)")[0]) == "INSERT 0 1"
    assert not written
    assert tag_of(run("COMMIT")[0]) == "COMMIT"
    assert len(written) == 1


def test_rollback_writes_nothing(run: Run, written: list[object]) -> None:
    run("BEGIN; INSERT INTO notes VALUES (1, 'a'); ROLLBACK")
    assert not written


def test_a_savepoint_takes_rows_back(run: Run, written: list[object]) -> None:
    run("BEGIN; SAVEPOINT s; INSERT INTO notes VALUES (1, 'a'); ROLLBACK TO s; COMMIT")
    assert not written


@pytest.mark.parametrize(
    ("sql", "message", "sqlstate"),
    [
        ("INSERT INTO notes VALUES (1, 'a', 2)", "INSERT has more expressions", "42601"),
        ("INSERT INTO notes VALUES (1), (2, 'b')", "VALUES lists must all be the same", "42601"),
        ("INSERT INTO notes (nope) VALUES (1)", 'column "nope" of relation', "42703"),
        ("INSERT INTO notes (id, id) VALUES (1, 2)", 'column "id" specified more', "42701"),
        ("INSERT INTO other VALUES (1)", "only support writes to a single table", "0A000"),
        ("UPDATE notes SET id = 2", "UPDATE cannot be run inside a transaction", "25001"),
        ("DELETE FROM notes", "DELETE cannot be run inside a transaction", "25001"),
        ("INSERT INTO notes SELECT 1, 'a'", "INSERT cannot be run inside a transaction", "25001"),
        ("SELECT * FROM notes", "transaction in write-only mode", "25000"),
        ("DROP TABLE other", "in a transaction that writes rows", "25001"),
    ],
)
def test_refused_at_once(
    session: Session, run: Run, written: list[object], sql: str, message: str, sqlstate: str
) -> None:
    run("BEGIN; INSERT INTO notes VALUES (1, 'a')")
    error = refused(run, sql)
    assert message in error.message
    assert error.sqlstate == sqlstate
    assert session.transaction_status == "E"
    run("ROLLBACK")
    assert not written


def test_a_definition_keeps_inserts_out(run: Run, written: list[object]) -> None:
    run("BEGIN; CREATE TABLE more (id int)")
    error = refused(run, "INSERT INTO more VALUES (1)")
    assert "in a transaction that changes definitions" in error.message
    run("ROLLBACK")
