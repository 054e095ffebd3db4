"""Pages of the switch to a new table after a schema change upstream."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from catalog import accounts, reads
from catalog.maintenance import applying
from catalog.models import ExportProgress, SourceReference, User, ViewProgress
from tests.console.pages.conftest import PASSWORD, run

pytestmark = pytest.mark.django_db
ONE = "/schema-changes/c1"
SETUP = (
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION",
    "CREATE TABLE bids FROM SOURCE house (REFERENCE bids)",
    "CREATE MATERIALIZED VIEW totals AS SELECT auction_id, sum(amount) AS total "
    "FROM bids GROUP BY auction_id",
)


@pytest.fixture(autouse=True)
def _nobody_catches_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No maintainer runs here, so an apply need not wait for one."""
    monkeypatch.setattr(applying, "CATCHING_UP", 0.0)


@pytest.fixture
def drifted(owner: User) -> User:
    for statement in SETUP:
        run(owner, statement)
    reference = SourceReference.objects.get(name="bids")
    reference.columns = [*reference.columns, {**reference.columns[0], "name": "note"}]
    reference.save()
    _report()
    return owner


def _report() -> None:
    ExportProgress.objects.update(readable_from=1, status="running")
    ViewProgress.objects.update(hydrated=True, status="running", readable_from=1)


def _text(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def _table() -> str:
    return next(item.id for item in reads.items() if item.name == "bids")


def test_others_are_told_that_owners_do_this(drifted: User) -> None:
    client = Client()
    assert client.get("/schema-changes")["Location"].startswith("/sign-in?next=")
    client.force_login(accounts.create_user("bob@example.com", PASSWORD, owner=False))
    assert client.get("/schema-changes").status_code == 403
    assert client.post("/schema-changes/begin", {"table": _table()}).status_code == 403
    assert client.get(ONE).status_code == 403


def test_from_drift_to_the_new_table(browser: Client, drifted: User) -> None:
    assert "/schema-changes" in _text(browser, f"/tables/{_table()}?tab=columns")
    listed = _text(browser, "/schema-changes")
    assert "column &quot;note&quot; was added" in listed
    assert browser.post("/schema-changes/begin", {"table": _table()})["Location"] == ONE
    old = _table()
    page = _text(browser, ONE)
    assert 'aria-label="Statement of this step"' in page
    assert "CREATE TABLE headrace.public.bids_next" in page
    assert "Begin the switch of bids" not in _text(browser, "/schema-changes")
    for _ in range(4):
        _report()
        assert browser.post(f"{ONE}/step").status_code == 302
    done = _text(browser, ONE)
    assert ">done</span>" in done
    assert "Do this step" not in done
    assert _table() != old
    assert "is done" in browser.post(f"{ONE}/step").content.decode()


def test_waiting_and_refusals_are_told(browser: Client, drifted: User) -> None:
    browser.post("/schema-changes/begin", {"table": _table()})
    wrong = {"sql": "CREATE TABLE bids_next FROM SOURCE house (REFERENCE nothing)"}
    refused = browser.post(f"{ONE}/step", wrong).content.decode()
    assert "The step was not done" in refused
    assert browser.post(f"{ONE}/step").status_code == 302
    ExportProgress.objects.filter(item__name="bids_next").update(readable_from=0)
    assert "Do this step" not in _text(browser, ONE)
    assert "is not ready" in browser.post(f"{ONE}/step").content.decode()
    nothing = browser.post("/schema-changes/begin", {"table": "u999"}).content.decode()
    assert "unknown table" in nothing
    assert browser.get("/schema-changes/c9").status_code == 404


def test_it_is_given_up(browser: Client, drifted: User) -> None:
    browser.post("/schema-changes/begin", {"table": _table()})
    for _ in range(3):
        _report()
        browser.post(f"{ONE}/step")
    page = _text(browser, ONE)
    code = re.sub(r"<[^>]*>", "", page)
    assert "ROLLBACK REPLACEMENT" in code
    assert browser.post(f"{ONE}/give-up")["Location"] == ONE
    assert {item.name for item in reads.items()} == {"house", "bids", "totals"}
    assert "given up" in _text(browser, ONE)


def test_the_script(browser: Client, drifted: User) -> None:
    browser.post("/schema-changes/begin", {"table": _table()})
    answer = browser.get(f"{ONE}/script")
    assert answer["Content-Disposition"] == 'attachment; filename="c1.sql"'
    assert b"ALTER MATERIALIZED VIEW headrace.public.totals APPLY" in answer.content
