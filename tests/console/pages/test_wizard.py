"""The source wizard: what is chosen is saved, shown and executed as one text."""

from __future__ import annotations

import re
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog import accounts, drafts, reads
from catalog.models import User
from catalog.results import Done
from console.demo import DemoStatus
from console.wizards.state import WizardState
from ingest.errors import HeadraceError
from tests.console.pages.conftest import make_tables


def _draft(browser: Client, source: str) -> str:
    answer = browser.get(f"/sources/new/tables?source={source}")
    found = re.match(r"/sources/new/([0-9a-f-]{36})\?step=tables", answer["Location"])
    assert found
    return f"/sources/new/{found[1]}"


def _state(user: User) -> WizardState:
    return WizardState.from_json(drafts.open_drafts(user)[0].state)


def _choose(browser: Client, base: str, **values: str) -> str:
    answer = browser.post(f"{base}/select", {"op": "add", **values})
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_schema_opens_alone(browser: Client, many: str) -> None:
    base = _draft(browser, many)
    page = browser.get(f"{base}?step=tables").content.decode()
    assert page.count('aria-level="1"') == 40
    assert page.count('aria-level="2"') == 50
    two = browser.get(f"{base}?step=tables&open=s3,s5").content.decode()
    assert two.count('aria-level="2"') == 100
    assert 'id="r20250"' in two
    rows = browser.get(f"{base}/schema?ns=schema_05").content.decode()
    assert rows.count('aria-level="2"') == 50


def test_search_looks_in_names_and_columns(browser: Client, many: str) -> None:
    base = _draft(browser, many)
    by_name = browser.get(f"{base}/tree?q=schema_03.table_07").content.decode()
    assert "Select all <b>1</b> matching" in by_name
    assert 'data-q="schema_03.table_07"' in by_name
    by_column = browser.get(f"{base}/tree?q=col:place").content.decode()
    assert "Select all <b>40</b> matching" in by_column
    assert "Nothing matches" in browser.get(f"{base}/tree?q=nonsense").content.decode()


def test_choices_are_saved_and_names_do_not_collide(
    browser: Client, many: str, owner: User
) -> None:
    base = _draft(browser, many)
    _choose(browser, base, q="table_11")
    chosen = _state(owner).chosen
    names = [choice.into for choice in chosen.values()]
    assert len(names) == len(set(names)) == 40
    assert {"table_11", "schema_39_table_11"} <= set(names)
    assert all(choice.text == ["email"] for choice in chosen.values())


def test_types_without_a_form_wait_for_a_person(browser: Client, many: str, owner: User) -> None:
    base = _draft(browser, many)
    changed = _choose(browser, base, ids="20007,20008")
    assert "1 to decide" in changed
    assert "Decide 1 table" in changed
    refused = browser.post(f"{base}/create")
    assert refused["Location"].endswith("show=attention")
    browser.post(f"{base}/columns/20007", {"col": "place", "mode": "exclude"})
    assert _state(owner).chosen["20007"].exclude == ["place"]
    review = browser.get(f"{base}?step=review").content.decode()
    assert "EXCLUDE COLUMNS" in re.sub("<[^>]+>", "", review)


def test_removing_and_renaming(browser: Client, many: str, owner: User) -> None:
    base = _draft(browser, many)
    _choose(browser, base, ids="20001,20002,20003")
    browser.post(f"{base}/select", {"op": "remove", "ids": "20002"})
    browser.post(f"{base}/rename/20001", {"into": "Fine Name"})
    browser.post(f"{base}/rename/20003", {"into": "bids"})
    assert {c.into for c in _state(owner).chosen.values()} == {"Fine Name", "table_03"}
    assert '"Fine Name"' in browser.get(f"{base}/sql").content.decode()


def test_another_users_draft_is_not_there(browser: Client, many: str, owner: User) -> None:
    base = _draft(browser, many)
    other = Client()
    other.force_login(accounts.create_user("bob@example.com"))
    assert other.get(base).status_code == 404
    assert browser.get(f"/sources/new/{uuid.uuid4()}").status_code == 404


def test_what_is_shown_is_what_is_executed(
    browser: Client, seeded: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = next(row.item.id for row in reads.sources())
    base = _draft(browser, source)
    _choose(browser, base)
    shown = browser.get(f"{base}/sql").content.decode()
    executed: list[str] = []

    def record(user: User, sql: str) -> list[Done]:
        executed.append(sql)
        return [Done("COMMIT")]

    monkeypatch.setattr("console.execute.run", record)
    answer = browser.post(f"{base}/create")
    assert answer["Location"] == f"/sources/{source}"
    assert executed == [shown]
    assert shown.startswith("BEGIN;\n\nCREATE TABLE accounts\n  FROM SOURCE auction")
    assert shown.endswith("COMMIT;")


def test_a_finished_draft_leads_to_what_it_made(browser: Client, seeded: User) -> None:
    source = next(row.item.id for row in reads.sources())
    base = _draft(browser, source)
    _choose(browser, base)
    assert "no-store" in browser.get(f"{base}?step=review")["Cache-Control"]
    assert browser.post(f"{base}/create")["Location"] == f"/sources/{source}"
    made = reads.tables()
    assert browser.post(f"{base}/create")["Location"] == f"/sources/{source}"
    assert reads.tables() == made
    assert browser.get(f"{base}?step=review")["Location"] == f"/sources/{source}"


def test_a_second_click_at_the_same_moment(
    browser: Client, seeded: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = next(row.item.id for row in reads.sources())
    base = _draft(browser, source)
    _choose(browser, base)

    def lost_the_race(user: User, sql: str) -> list[HeadraceError]:
        drafts.discard(user, base.rpartition("/")[2])
        return [HeadraceError("table 'accounts' already exists")]

    monkeypatch.setattr("console.execute.run", lost_the_race)
    assert browser.post(f"{base}/create")["Location"] == f"/sources/{source}"


def test_the_demo_is_waited_for(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    status = DemoStatus("starting", port=5999)
    for module in ("page", "connection"):
        monkeypatch.setattr(f"console.wizards.{module}.demo_status", lambda: status)
    monkeypatch.setattr("console.wizards.begin.start_demo", lambda user: status)
    base = browser.post("/sources/new/demo")["Location"].partition("?")[0]
    page = browser.get(f"{base}?step=connection").content.decode()
    assert f'hx-get="{base}/demo"' in page
    assert 'form="new-connection" disabled' in page
    assert "HX-Refresh" not in browser.get(f"{base}/demo").headers
    status = DemoStatus("running", port=5999)
    assert browser.get(f"{base}/demo")["HX-Refresh"] == "true"
    assert 'form="new-connection" disabled' not in browser.get(base).content.decode()


def test_a_generator_is_one_click(browser: Client) -> None:
    answer = browser.post("/sources/new/generator", {"kind": "auction"})
    source = reads.sources()[0]
    assert answer["Location"] == f"/sources/{source.item.id}"
    assert {table.item.name for table in reads.tables()} >= {"bids", "auctions", "users"}


def test_a_connection_that_fails_keeps_the_answers(browser: Client, owner: User) -> None:
    begun = browser.get("/sources/new/begin")
    base = begun["Location"].partition("?")[0]
    fields = {
        "name": "pg",
        "host": "127.0.0.1",
        "port": "1",
        "database": "shop",
        "user": "ada",
        "password": "not-to-be-seen",
        "ssl_mode": "disable",
    }
    page = browser.post(f"{base}/connection", fields).content.decode()
    assert "Reachable" in page
    assert "not-to-be-seen" not in page
    assert "not-to-be-seen" not in str(drafts.open_drafts(owner)[0].state)
    assert [item.kind for item in reads.items()] == ["secret"]
    assert 'value="127.0.0.1"' in browser.get(f"{base}?step=connection").content.decode()


@pytest.mark.parametrize("made", [0, 450])
def test_two_thousand_references_stay_quick(
    browser: Client, many: str, seeded: User, made: int
) -> None:
    make_tables(seeded, made)
    base = _draft(browser, many)
    for path in (f"{base}?step=tables", f"{base}/tree?q=table_07", f"{base}/schema?ns=schema_20"):
        browser.get(path)
        with CaptureQueriesContext(connection) as queries:
            browser.get(path)
        assert len(queries) < 20, path
