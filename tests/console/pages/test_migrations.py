"""Pages about migrations, from a dry run to a rollback; for account owners only."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog import accounts, reads
from catalog.migrate.dump import dump
from catalog.migrate.reads import migrations
from catalog.models import ExportProgress, User
from tests.catalog.migrate.corpus import Corpus, large
from tests.console.pages.conftest import PASSWORD, run

pytestmark = pytest.mark.django_db
REGION = "local/embedded"
ONE = f"/migrations/{REGION}/m1"
OLD = (
    "ALTER SYSTEM SET force_source_table_syntax = off",
    "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER",
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION FOR ALL TABLES",
    "CREATE VIEW ticks AS SELECT counter FROM counter",
)
PAGES = ("/migrations", "/builtins", "/builtins?tab=status", "/rollout", f"/rollout/{REGION}")
TABS = ("overview", "steps", "ids", "dependents", "events")


@pytest.fixture
def legacy(owner: User) -> User:
    """Sources in the older form whose rows can be read."""
    for statement in OLD:
        run(owner, statement)
    ExportProgress.objects.update(readable_from=1, status="running")
    return owner


@pytest.fixture
def planned(browser: Client, legacy: User) -> str:
    """The address of a plan's page."""
    answer = browser.post("/migrations/plan", {"region": REGION})
    assert answer["Location"] == ONE
    return ONE


def _text(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_pages_of_an_empty_region(path: str, browser: Client) -> None:
    assert "{{" not in _text(browser, path)


@pytest.mark.parametrize("path", [*PAGES, ONE])
def test_others_are_told_that_owners_do_this(path: str, db: None) -> None:
    user = accounts.create_user("bob@example.com", PASSWORD, owner=False)
    client = Client()
    assert client.get(path)["Location"].startswith("/sign-in?next=")
    client.force_login(user)
    answer = client.get(path)
    assert answer.status_code == 403
    assert b"Only an account owner may do this" in answer.content
    assert b'href="/migrations"' not in answer.content
    acts = ("/migrations/plan", f"{ONE}/apply", f"{ONE}/rollback", "/rollout/change/region")
    assert {client.post(act).status_code for act in acts} == {403}


def test_what_is_left_is_told(browser: Client, legacy: User) -> None:
    text = _text(browser, "/migrations")
    row = re.sub(r"<[^>]*>", " ", text[text.index('id="region-local-embedded"') :])
    assert row.split()[2:7] == ["7", "1", "1", "5", "0"]


@pytest.mark.parametrize("tab", TABS)
def test_a_plan_is_looked_at(browser: Client, planned: str, tab: str) -> None:
    text = _text(browser, f"{planned}?tab={tab}")
    assert "Look at its steps" in text
    assert f'<a href="?tab={tab}" aria-current="page">' in text


def test_words_and_numbers_of_the_plan(browser: Client, planned: str) -> None:
    text = _text(browser, planned)
    assert "source gives name and data to a table, and is named anew" in text
    assert "No data moves and nothing is copied again" in text
    assert "counter" in _text(browser, f"{planned}?tab=ids")
    assert "headrace.public.ticks" in _text(browser, f"{planned}?tab=dependents")


def test_steps_are_searched_and_read(browser: Client, planned: str) -> None:
    text = _text(browser, f"{planned}?tab=steps&q=bids")
    assert "1 step<" in text
    number = re.search(r"steps/(\d+)", text)
    assert number is not None
    step = _text(browser, f"{planned}/steps/{number.group(1)}")
    assert "A subsource becomes a table" in step
    assert "SUBSOURCE" in step
    assert "<mark>TABLE</mark>" in step
    assert "No step is about nobody" in _text(browser, f"{planned}?tab=steps&q=nobody")
    assert browser.get(f"{planned}/steps/9999").status_code == 404


def test_it_is_approved_paused_applied_and_taken_back(browser: Client, planned: str) -> None:
    before = dump(REGION)
    for act, state in (("approve", "approved"), ("pause", "paused"), ("approve", "approved")):
        assert browser.post(f"{planned}/{act}")["Location"] == planned
        assert migrations(REGION)[0].state == state
    assert browser.post(f"{planned}/apply")["Location"] == planned
    text = _text(browser, planned)
    assert "What it did" in text
    assert 'data-open="#rollback"' in text
    assert {row.item.name for row in reads.tables()} >= {"counter", "bids"}
    assert "nothing is in the way" in _text(browser, f"{planned}/rollback-blockers")
    events = _text(browser, f"{planned}?tab=events").partition("migration-events")[2]
    assert events.index(">plan<") < events.index(">approve<") < events.index(">applied<")
    assert browser.post(f"{planned}/rollback")["Location"] == planned
    assert dump(REGION) == before
    assert "Find out why; plan again" in _text(browser, planned)


@pytest.mark.parametrize("name", ["house", "counter"])
def test_drafts_go_on_with_the_source(browser: Client, planned: str, name: str) -> None:
    """Somebody was choosing tables of a source while it was migrated, and taken back."""
    (source,) = (row.item for row in reads.sources() if row.item.name == name)
    draft = browser.get(f"/sources/new/tables?source={source.id}")["Location"].partition("?")[0]
    assert name in _text(browser, draft)
    browser.post(f"{planned}/apply")
    now = reads.source(source.id)
    assert now is not None
    assert now.item.name == {"house": "house", "counter": "counter_source"}[name]
    assert f"Tables of {now.item.name}" in _text(browser, "/sources")
    assert now.item.name in _text(browser, draft)
    browser.post(f"{planned}/rollback")
    assert f"Tables of {name}" in _text(browser, "/sources")
    assert name in _text(browser, draft)


def test_what_cannot_be_done_is_refused_in_words(browser: Client, planned: str) -> None:
    answer = browser.post(f"{planned}/rollback")
    assert answer.status_code == 200
    assert "migration m1 is planned" in answer.content.decode()
    assert browser.post(f"{planned}/explode").status_code == 404
    assert browser.post(f"/migrations/{REGION}/m9/apply").status_code == 404
    assert browser.get("/migrations/nowhere/m1").status_code == 404


def test_a_stale_plan_leads_to_a_new_one(browser: Client, planned: str, legacy: User) -> None:
    run(legacy, "CREATE SOURCE more FROM LOAD GENERATOR COUNTER")
    ExportProgress.objects.update(readable_from=1, status="running")
    assert "The catalog changed since this was planned" in _text(browser, planned)
    text = browser.post(f"{planned}/apply").content.decode()
    assert text.count("the catalog changed since migration m1 was planned") == 1
    assert "Plan again" in text
    assert browser.post("/migrations/plan", {"region": REGION})["Location"].endswith("/m2")
    assert "Look at the newer plan" in _text(browser, planned)
    assert browser.post(f"/migrations/{REGION}/m2/apply").status_code == 302


def test_blockers_come_with_remedies(browser: Client, legacy: User) -> None:
    ExportProgress.objects.filter(item__name="counter").update(readable_from=0, status="starting")
    browser.post("/migrations/plan", {"region": REGION})
    text = _text(browser, ONE)
    assert "its snapshot is not complete" in text
    assert "Wait until its status is running" in text
    assert 'data-open="#apply" disabled' in text
    refused = browser.post(f"{ONE}/approve").content.decode()
    assert "migration m1 has 1 blocker" in refused


@pytest.mark.parametrize("what", ["dbt", "terraform", "sql"])
def test_downloads(browser: Client, planned: str, what: str) -> None:
    answer = browser.get(f"{planned}/download/{what}")
    assert answer["Content-Disposition"] == f'attachment; filename="m1-{what}.txt"'
    assert b"counter_source" in answer.content
    assert browser.get(f"{planned}/download/secrets").status_code == 404


def test_names_are_not_markup(browser: Client, legacy: User) -> None:
    run(legacy, 'CREATE SOURCE "<b>x" FROM LOAD GENERATOR COUNTER')
    ExportProgress.objects.update(readable_from=1, status="running")
    browser.post("/migrations/plan", {"region": REGION})
    assert "<b>x" not in _text(browser, f"{ONE}?tab=steps&q=%3Cb%3Ex")


def test_a_plan_of_many_items_costs_few_queries(browser: Client, owner: User) -> None:
    large(Corpus.empty(), 400)
    ExportProgress.objects.update(readable_from=1, status="running")
    assert browser.post("/migrations/plan", {"region": REGION}).status_code == 302
    for tab in TABS:
        browser.get(f"{ONE}?tab={tab}")
        with CaptureQueriesContext(connection) as queries:
            text = _text(browser, f"{ONE}?tab={tab}")
        assert len(queries) <= 8, [query["sql"][:90] for query in queries]
        assert len(text) < 250_000
    assert "Next" in _text(browser, f"{ONE}?tab=steps")
    assert "101" in _text(browser, f"{ONE}?tab=steps&page=2")
