"""From statements of the older form, through the door, to tables that the new form would make."""

from __future__ import annotations

import re

import pytest

from catalog import snapshot
from catalog.migrate.apply import apply
from catalog.migrate.dump import dump
from catalog.migrate.rollback import roll_back
from catalog.migrate.store import make_plan
from catalog.models import ExportProgress
from catalog.plan.definitions import definition
from catalog.session import Session, role_for
from catalog.sql.render import render
from catalog.subscribing import subjects
from catalog.time.inputs import input_of
from tests.catalog.migrate.corpus import REGION

OLD = """
CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')
  FOR TABLES (bids, auctions AS "Auctions") EXPOSE PROGRESS AS house_far;
CREATE SOURCE counter FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s');
CREATE SOURCE tpch FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.01) FOR ALL TABLES;
CREATE SOURCE hook FROM WEBHOOK BODY FORMAT JSON;
CREATE TABLE twin FROM SOURCE counter;
CREATE VIEW doubled AS SELECT counter * 2 AS twice FROM counter;
CREATE VIEW far AS SELECT * FROM counter_progress;
CREATE VIEW bidders AS SELECT count(*) AS bids FROM bids;
"""
NEW = """
CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s');
CREATE TABLE bids FROM SOURCE house (REFERENCE auction.bids);
CREATE TABLE "Auctions" FROM SOURCE house (REFERENCE auction.auctions);
CREATE SOURCE counter_source FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s');
CREATE TABLE counter FROM SOURCE counter_source (REFERENCE counter.counter);
CREATE TABLE twin FROM SOURCE counter_source (REFERENCE counter.counter);
CREATE TABLE hook FROM WEBHOOK BODY FORMAT JSON;
"""


def _session() -> Session:
    return Session(role_for(REGION, "ada@example.com", superuser=True))


def _run(session: Session, script: str) -> None:
    for statement in script.split(";"):
        if statement.strip():
            list(session.execute(statement))


@pytest.fixture
def session(db: None) -> Session:
    session = _session()
    _run(session, "ALTER SYSTEM SET force_source_table_syntax = off;" + OLD)
    ExportProgress.objects.update(status="running", readable_from=1)
    return session


def _migrate() -> None:
    row = make_plan(REGION, "sources to tables", "ada@example.com")
    assert row.summary["blockers"] == []
    apply(REGION, f"m{row.number}", "ada@example.com")


def test_there_and_back(session: Session) -> None:
    before = dump(REGION)
    _migrate()
    picture = snapshot.current(REGION)
    for entry in picture.entries.values():
        read = render(definition(entry.create_sql))
        assert read.lower() == entry.create_sql.lower()
        assert not re.search("SUBSOURCE|FOR TABLES|FOR ALL|EXPOSE", entry.create_sql)
        if entry.fed:
            assert entry.kind == "table"
    for view in ("doubled", "bidders", "far", "counter_progress", "house_far"):
        assert picture.by_path["headrace", "public", view].kind == "view"
    roll_back(REGION, "m1", "ada@example.com")
    assert dump(REGION) == before
    _migrate()


def test_what_is_made_is_what_the_new_form_makes(session: Session) -> None:
    """Definitions, columns and exports, but for ids, shards and groups of snapshots."""
    _migrate()
    made = snapshot.current(REGION)
    script = "".join(f"CREATE DATABASE other; SET database = other; {NEW}")
    _run(session, script)
    both = snapshot.current(REGION)
    for path, fresh in both.by_path.items():
        if path[0] != "other":
            continue
        entry = made.by_path["headrace", *path[1:]]
        assert entry.create_sql == fresh.create_sql.replace("other.public", "headrace.public")
        assert (entry.kind, entry.relation) == (fresh.kind, fresh.relation)
        if fresh.fed:
            mine, its = entry.table, fresh.table
            assert mine.columns == its.columns
            assert (mine.namespace, mine.reference) == (its.namespace, its.reference)
            assert made.entries[mine.source].kind == both.entries[its.source].kind


def test_new_statements_work_on_what_was_migrated(session: Session) -> None:
    _migrate()
    _run(session, "CREATE TABLE more FROM SOURCE house (REFERENCE bids); DROP TABLE more;")
    _run(session, "ALTER SOURCE counter_source RENAME TO ticks;")
    picture = snapshot.current(REGION)
    assert (
        "FROM SOURCE headrace.public.ticks"
        in picture.by_path["headrace", "public", "counter"].create_sql
    )
    _run(session, "DROP SOURCE house CASCADE; DROP TABLE counter CASCADE; DROP TABLE hook;")


def test_subscriptions_go_on_with_the_rows(session: Session) -> None:
    picture = snapshot.current(REGION)
    source = picture.by_path["headrace", "public", "counter"]
    before = input_of(source, picture)
    _migrate()
    now = subjects._entry(REGION, source.id, source.path)
    after = input_of(now, snapshot.current(REGION))
    assert (after.shard, after.feed, after.columns) == (before.shard, before.feed, before.columns)
    assert after.reference == before.reference
