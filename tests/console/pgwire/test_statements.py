"""Statements over the wire, by psycopg: simple and extended, on the system catalog."""

from __future__ import annotations

import datetime as dt
from typing import Any

import psycopg
import pytest
from psycopg import pq
from psycopg.generators import execute
from psycopg.pq.abc import PGresult

from tests.console.pgwire.conftest import Listening

Connection = psycopg.Connection[Any]


@pytest.fixture
def client(server: Listening) -> Any:
    """A connection in autocommit mode."""
    with server.connect() as connection:
        yield connection


def results(client: Connection, sql: str) -> list[tuple[str, Any]]:
    """Command tag and first value of each result of a text, by the simple protocol.

    An error has its SQLSTATE and position instead.
    """
    client.pgconn.send_query(sql.encode())
    return [_told(result) for result in client.wait(execute(client.pgconn))]


def _told(result: PGresult) -> tuple[str, Any]:
    if result.status == pq.ExecStatus.FATAL_ERROR:
        state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
        return state.decode(), result.error_field(pq.DiagnosticField.STATEMENT_POSITION)
    if result.status == pq.ExecStatus.EMPTY_QUERY:
        return "", None
    value = result.get_value(0, 0) if result.ntuples else None
    return (result.command_status or b"").decode(), value


def test_several_statements_in_one_text(client: Connection) -> None:
    assert results(client, "SELECT 1; SET application_name = 'x'; SHOW application_name") == [
        ("SELECT 1", b"1"),
        ("SET", None),
        ("SHOW", b"x"),
    ]
    assert client.info.parameter_status("application_name") == "x"
    assert results(client, " ; ") == [("", None)]
    assert results(client, "SELECT 1; SELECT * FROM nope; SELECT 2") == [
        ("SELECT 1", b"1"),
        ("42P01", b"25"),
    ]


def test_errors_say_where_and_what_helps(client: Connection) -> None:
    with pytest.raises(psycopg.errors.SyntaxError) as refused:
        client.execute("SELECT 1;\nSELCT 2")
    assert refused.value.diag.statement_position == "11"
    with pytest.raises(psycopg.errors.UndefinedObject) as unknown:
        client.execute("SHOW aplication_name")
    assert unknown.value.diag.message_hint == 'Did you mean "application_name"?'
    assert client.execute("SELECT 1").fetchone() == (1,)


def test_parameters(client: Connection) -> None:
    query = "SELECT name FROM mz_databases WHERE name = %s AND oid > %s LIMIT %s"
    for wish in (query, query.replace("%s", "%b"), query.replace("%s", "%t")):
        assert client.execute(wish, ("headrace", 1, 1)).fetchall() == [("headrace",)]
        assert client.execute(wish, (None, 1, 1)).fetchall() == []
    client_side = psycopg.ClientCursor(client)
    assert client_side.execute(query, ("it's", 1, 1)).fetchall() == []
    with pytest.raises(psycopg.errors.UndefinedParameter):
        client.execute("SELECT name FROM mz_databases WHERE name = $1")


def test_results_in_both_formats(client: Connection) -> None:
    query = (
        "SELECT id, oid, name = 'headrace' AS same, privileges, count(*) OVER () AS many,"
        " NULL AS nothing FROM mz_databases"
    )
    text = client.execute(query).fetchall()
    assert client.cursor(binary=True).execute(query).fetchall() == text
    (row,) = text
    assert row[2:] == (True, row[3], 1, None)
    assert isinstance(row[1], int)
    when = "SELECT max(occurred_at) FROM mz_audit_events"
    client.execute("CREATE SCHEMA seen")
    found = client.cursor(binary=True).execute(when).fetchone()
    assert found is not None
    assert found == client.execute(when).fetchone()
    assert isinstance(found[0], dt.datetime)


def test_prepared_statements(client: Connection) -> None:
    query = "SELECT name FROM mz_objects WHERE name = %s"
    for _ in range(3):
        found = client.execute(query, ("mz_tables",), prepare=True).fetchall()
        assert found == [("mz_tables",)]
    client.prepared_max = 2
    for number in range(5):
        assert client.execute(f"SHOW cluster -- {number}", prepare=True).fetchall()
    assert _prepare(client, b"mine", b"SELECT id, oid FROM mz_tables WHERE name = $1") is None
    client.pgconn.send_describe_prepared(b"mine")
    (said,) = client.wait(execute(client.pgconn))
    assert [said.ftype(column) for column in range(said.nfields)] == [25, 26]
    assert [said.param_type(number) for number in range(said.nparams)] == [25]
    assert _prepare(client, b"mine", b"SELECT 1") == b"42P05"
    assert _prepare(client, b"two", b"SELECT 1; SELECT 2") == b"42601"
    assert results(client, "DEALLOCATE mine") == [("DEALLOCATE", None)]
    assert results(client, "DEALLOCATE mine") == [("26000", None)]
    assert client.execute("DEALLOCATE PREPARE ALL").statusmessage == "DEALLOCATE ALL"


def _prepare(client: Connection, name: bytes, sql: bytes) -> bytes | None:
    """The SQLSTATE of a Parse that fails."""
    client.pgconn.send_prepare(name, sql)
    (result,) = client.wait(execute(client.pgconn))
    state: bytes | None = result.error_field(pq.DiagnosticField.SQLSTATE)
    return state


def test_pipelines_skip_after_an_error(client: Connection) -> None:
    with client.pipeline() as pipeline:
        first = client.execute("SELECT 1")
        second = client.execute("SELECT * FROM nope")
        third = client.execute("SELECT 3")
        with pytest.raises(psycopg.errors.UndefinedTable):
            pipeline.sync()
    assert first.fetchone() == (1,)
    for skipped in (second, third):
        with pytest.raises(psycopg.Error):
            skipped.fetchone()
    assert client.execute("SELECT 4").fetchone() == (4,)


def test_one_row_at_a_time(client: Connection) -> None:
    cursor = client.cursor()
    rows = list(cursor.stream("SELECT id FROM mz_columns ORDER BY id LIMIT 5000"))
    assert len(rows) > 100


def test_transactions(server: Listening) -> None:
    with psycopg.connect(server.dsn()) as client:
        client.execute("CREATE SCHEMA one")
        assert client.info.transaction_status.name == "INTRANS"
        client.execute("SAVEPOINT before")
        client.execute("CREATE SCHEMA lost")
        with pytest.raises(psycopg.errors.UndefinedTable):
            client.execute("SELECT * FROM nope")
        client.execute("ROLLBACK TO before")
        client.execute("RELEASE before")
        assert client.info.transaction_status.name == "INTRANS"
        client.execute("CREATE SCHEMA two")
        client.commit()
        with pytest.raises(psycopg.errors.SyntaxError):
            client.execute("SELCT")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            client.execute("SELECT 1")
        client.rollback()
        assert client.info.transaction_status.name == "IDLE"
        found = client.execute("SELECT name FROM mz_schemas WHERE database_id IS NOT NULL")
        assert {row[0] for row in found} == {"public", "one", "two"}


def test_an_unsound_text_fails_the_transaction(server: Listening) -> None:
    with psycopg.connect(server.dsn()) as client:
        client.execute("CREATE SCHEMA lost")
        with pytest.raises(psycopg.errors.SyntaxError):
            client.execute("SELCT %s", (1,))
        assert client.execute("COMMIT").statusmessage == "ROLLBACK"
        found = client.execute("SELECT count(*) FROM mz_schemas WHERE name = 'lost'")
        assert found.fetchone() == (0,)


def test_discard_all(client: Connection) -> None:
    client.execute("SET application_name = 'x'")
    assert client.execute("DISCARD ALL").statusmessage == "DISCARD ALL"
    assert client.execute("SHOW application_name").fetchone() == ("",)


def test_notices(client: Connection) -> None:
    heard: list[str | None] = []
    client.add_notice_handler(lambda notice: heard.append(notice.message_primary))
    client.execute("ROLLBACK")
    client.execute("SET client_min_messages = error")
    client.execute("ROLLBACK")
    assert heard == ["there is no transaction in progress"]
