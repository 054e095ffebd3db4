"""Writes to plain tables are known of before their rows are there."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.errors import StatementError
from catalog.models import Item, PlainTableWrite
from catalog.session import Session, role_for
from catalog.time import closing
from catalog.time.oracle import newest_time, next_time
from ingest import engine
from ingest.errors import IngestError, Transient

REGION = "local/embedded"


@pytest.fixture
def table(db: None, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(engine, "create_table", lambda *_: None)
    session = Session(role_for(REGION, "ada@example.com", superuser=True))
    list(session.execute("CREATE TABLE t (id int)"))
    return Item.objects.get(kind="table").gid


def test_a_table_is_closed_before_its_pending_write(table: str) -> None:
    ticket = closing.begin(REGION, table, "insert", "ada", 1.0)
    next_time(REGION)
    assert closing.closed(REGION, [table]) == closing.Closed(ticket.time - 1, 0)
    assert closing.pending(REGION) == {table: ticket.time}
    closing.end(ticket, 3)
    assert closing.closed(REGION, [table]) == closing.Closed(newest_time(REGION), ticket.time)
    assert PlainTableWrite.objects.get().rows == 3


def test_one_write_at_a_time(table: str) -> None:
    ticket = closing.begin(REGION, table, "insert", "ada", 1.0)
    with pytest.raises(StatementError) as caught:
        closing.begin(REGION, table, "insert", "ada", 0.1)
    assert caught.value.sqlstate == "55P03"
    closing.end(ticket, 0)
    assert closing.begin(REGION, table, "insert", "ada", 0.1).time > ticket.time


def test_a_refused_write_is_over(table: str) -> None:
    ticket = closing.begin(REGION, table, "insert", "ada", 1.0)
    closing.give_up(ticket, IngestError("no", sqlstate="23502"))
    assert not PlainTableWrite.objects.exists()


def test_a_write_of_unknown_end_is_settled_by_delta(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int | None] = [None, 4]
    monkeypatch.setattr(engine, "written", lambda *_: found.pop(0))
    ticket = closing.begin(REGION, table, "insert", "ada", 1.0)
    closing.give_up(ticket, Transient("gone"))
    assert closing.pending(REGION) == {table: ticket.time}
    closing.resolve(REGION)
    row = PlainTableWrite.objects.get()
    assert (row.state, row.rows) == ("done", 4)


def test_a_dead_writer_is_waited_for_a_while(table: str) -> None:
    ticket = closing.begin(REGION, table, "insert", "ada", 1.0)
    PlainTableWrite.objects.update(writer="")
    closing.resolve(REGION)
    assert closing.pending(REGION) == {table: ticket.time}
    early = timezone.now() - timedelta(seconds=closing.DEAD_AFTER + 1)
    PlainTableWrite.objects.update(begun_at=early)
    closing.resolve(REGION)
    assert closing.pending(REGION) == {}
