"""Webhooks in the catalog: made, shown, renamed, dropped."""

from __future__ import annotations

import pytest

from catalog import desired, snapshot
from catalog.names import Path
from catalog.session import Session, role_for
from catalog.webhooks.find import Webhook, find
from ingest.contract.commands import Webhooks
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of, run, session

__all__ = ["run", "session"]
REGION = "local/embedded"
SIGNED = """
    CREATE SECRET key AS 'shh';
    CREATE TABLE hook FROM WEBHOOK BODY FORMAT JSON
        INCLUDE HEADERS INCLUDE HEADER 'x-event' AS event
        CHECK (WITH (HEADERS, BODY, SECRET key)
               constant_time_eq(headers->'x-sig', encode(hmac(body, key, 'sha256'), 'hex')))
"""


def path(name: str) -> Path:
    return ("headrace", "public", name)


def found(name: str) -> Webhook:
    webhook = find(REGION, path(name))
    assert webhook is not None
    return webhook


def test_made(run: Run) -> None:
    run(SIGNED)
    (columns,) = run("SHOW COLUMNS FROM hook")
    assert [(row[0], row[2], row[1]) for row in rows_of(columns)] == [
        ("body", "jsonb", False),
        ("headers", "jsonb", False),
        ("event", "text", True),
    ]
    webhook = found("hook")
    assert webhook.secrets == {"key": "shh"}
    picture = snapshot.current(REGION)
    entry = picture.by_path[path("hook")]
    assert entry.fed
    assert entry.kind == "table"
    feed = desired.feed_command(REGION, webhook.feed)
    assert feed is not None
    assert feed.target == Webhooks()
    assert [(e.table, e.reference, e.key) for e in feed.exports] == [
        (entry.id, webhook.reference, ())
    ]


def test_shown(run: Run) -> None:
    run(SIGNED)
    (shown,) = run("SHOW CREATE TABLE hook")
    ((_, text),) = rows_of(shown)
    assert "SECRET headrace.public.key AS key" in str(text)
    assert "shh" not in str(text)
    (urls,) = run("SELECT name, url FROM mz_internal.mz_webhook_sources")
    ((name, url),) = rows_of(urls)
    assert name == "hook"
    assert str(url).endswith("/api/webhook/headrace/public/hook")
    (tables,) = run("SELECT name, source_id FROM mz_tables WHERE id LIKE 'u%'")
    assert rows_of(tables) == [("hook", None)]
    (sources,) = run("SELECT name FROM mz_sources")
    assert rows_of(sources) == []
    (events,) = run("SELECT object_type, event_type FROM mz_audit_events ORDER BY id DESC LIMIT 1")
    assert rows_of(events) == [("table", "create")]


def test_one_feed_for_all(run: Run) -> None:
    run(
        "CREATE TABLE a FROM WEBHOOK BODY FORMAT TEXT;CREATE TABLE b FROM WEBHOOK BODY FORMAT JSON"
    )
    assert found("a").feed == found("b").feed
    assert found("a").reference != found("b").reference
    run("DROP TABLE a")
    assert desired.dropped_feeds(REGION) == ()
    assert find(REGION, path("a")) is None
    run("DROP TABLE b")
    assert desired.dropped_feeds(REGION)


def test_its_secret_stays(run: Run) -> None:
    run(SIGNED)
    with pytest.raises(HeadraceError, match="still depended upon by table"):
        run("DROP SECRET key")
    run("ALTER SECRET key AS 'other'")
    assert found("hook").secrets == {"key": "other"}
    run('ALTER SECRET key RENAME TO "k-2"; ALTER TABLE hook RENAME TO hook2')
    assert found("hook2").secrets == {"key": "other"}


def test_a_view_on_it(run: Run) -> None:
    run(SIGNED)
    run("CREATE VIEW paid AS SELECT body->>'id' AS id FROM hook WHERE event = 'paid'")
    with pytest.raises(HeadraceError, match="non-writeable"):
        run("INSERT INTO hook VALUES ('1', '{}', 'x')")
    with pytest.raises(HeadraceError, match="still depended upon by view"):
        run("DROP TABLE hook")


def test_the_older_form(run: Run) -> None:
    with pytest.raises(HeadraceError) as caught:
        run("CREATE SOURCE s FROM WEBHOOK BODY FORMAT TEXT")
    assert caught.value.message == (
        "CREATE SOURCE .. FROM WEBHOOK not supported; use CREATE TABLE .. FROM WEBHOOK instead"
    )
    run("ALTER SYSTEM SET force_source_table_syntax = off")
    run("CREATE SOURCE s FROM WEBHOOK BODY FORMAT TEXT")
    (sources,) = run("SELECT name, type FROM mz_sources")
    assert rows_of(sources) == [("s", "webhook")]
    assert find(REGION, path("s")) is not None
    with pytest.raises(HeadraceError, match="s is a webhook"):
        run("ALTER SOURCE s REFRESH REFERENCES")
    run("DROP SOURCE s")
    assert find(REGION, path("s")) is None


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "CREATE TABLE t FROM WEBHOOK BODY FORMAT TEXT INCLUDE HEADER 'a' AS body",
            'column "body" specified more than once',
        ),
        (
            "CREATE TABLE t FROM WEBHOOK BODY FORMAT TEXT CHECK (WITH (SECRET nope) nope = 'x')",
            "unknown catalog item 'nope'",
        ),
        ("CREATE TABLE hook FROM WEBHOOK BODY FORMAT TEXT", "already exists"),
    ],
)
def test_refused(run: Run, sql: str, message: str) -> None:
    run(SIGNED)
    with pytest.raises(HeadraceError, match=message):
        run(sql)


def test_a_secret_of_somebody_else(run: Run) -> None:
    """The answers of a webhook would tell what it is."""
    run("CREATE SECRET key AS 'shh'")
    other = Session(role_for(REGION, "eve@example.com", superuser=False), REGION)
    sql = "CREATE TABLE t FROM WEBHOOK BODY FORMAT TEXT CHECK (WITH (SECRET key) key LIKE 's%')"
    with pytest.raises(HeadraceError, match="must be owner of SECRET key"):
        list(other.execute(sql))
    list(other.execute("CREATE SECRET mine AS 'x'"))
    list(other.execute(sql.replace("key", "mine")))
