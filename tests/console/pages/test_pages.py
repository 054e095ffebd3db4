"""Every page draws, tells strangers to sign in, forbids foreign scripts and keeps secrets."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog import accounts, reads
from catalog.models import User
from tests.console.pages.conftest import PASSWORD, run

PAGES = (
    "/",
    "/sources",
    "/sources/new",
    "/tables",
    "/webhooks",
    "/connections",
    "/secrets",
    "/audit",
    "/objects",
    "/shell",
    "/account",
    "/palette",
)


def _item(name: str) -> str:
    return next(item.id for item in reads.items() if item.name == name)


@pytest.mark.parametrize("path", PAGES)
def test_strangers_are_sent_to_sign_in(path: str, db: None) -> None:
    answer = Client().get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in?next=")


@pytest.mark.parametrize("path", PAGES)
def test_an_empty_console_leads_on(path: str, browser: Client) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200
    if path not in {"/palette", "/shell", "/account"}:
        assert b"/sources/new" in answer.content


@pytest.mark.parametrize("path", PAGES)
def test_every_page_draws_a_seeded_catalog(path: str, browser: Client, seeded: User) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200
    assert b"s3cret-value" not in answer.content


@pytest.mark.parametrize(
    ("kind", "name", "tabs"),
    [
        ("sources", "auction", ("", "references", "history", "sql")),
        ("tables", "bids", ("rows", "columns", "dependents", "history", "sql")),
        ("tables", 'Odd "Name', ("rows", "columns", "sql")),
        ("connections", "pg", ("",)),
        ("objects", "dear", ("",)),
    ],
)
def test_every_tab_of_an_item_draws(
    kind: str, name: str, tabs: tuple[str, ...], browser: Client, seeded: User
) -> None:
    for tab in tabs:
        answer = browser.get(f"/{kind}/{_item(name)}?tab={tab}")
        assert answer.status_code == 200, tab


def test_things_that_are_not_there(browser: Client) -> None:
    for path in ("/sources/u99", "/tables/u99", "/connections/u99", "/objects/u99"):
        assert browser.get(path).status_code == 404


def test_the_policy_is_strict(browser: Client) -> None:
    answer = browser.get("/")
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert b"<script>" not in answer.content
    assert b" style=" not in answer.content


def test_the_theme_is_drawn_by_the_server(browser: Client) -> None:
    assert b'data-theme="system"' in browser.get("/").content
    browser.post("/theme", {"theme": "dark", "next": "https://evil.example/"})
    assert b'data-theme="dark"' in browser.get("/").content
    answer = browser.post("/theme", {"theme": "dark", "next": "https://evil.example/"})
    assert answer["Location"] == "/"


@pytest.mark.parametrize("path", ["/", "/sources", "/tables"])
def test_more_tables_cost_no_more_queries(path: str, browser: Client, seeded: User) -> None:
    browser.get(path)
    with CaptureQueriesContext(connection) as few:
        browser.get(path)
    names = "; ".join(
        f"CREATE TABLE more_{n} FROM SOURCE auction (REFERENCE auction.bids)" for n in range(12)
    )
    run(seeded, f"BEGIN; {names}; COMMIT")
    run(seeded, "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER")
    browser.get(path)
    with CaptureQueriesContext(connection) as more:
        browser.get(path)
    assert len(more) <= len(few) + 1


def test_signing_in_and_out(owner: User) -> None:
    client = Client()
    wrong = client.post("/sign-in", {"email": owner.email, "password": "nope"})
    assert b"invalid e-mail or password" in wrong.content
    right = client.post(
        "/sign-in", {"email": owner.email, "password": PASSWORD, "next": "//evil.example"}
    )
    assert right["Location"] == "/"
    assert client.get("/").status_code == 200
    client.post("/sign-out")
    assert client.get("/").status_code == 302


def test_a_token_is_shown_once(browser: Client, owner: User) -> None:
    made = browser.post("/account", {"name": "dbt"})
    issued = made.context["issued"]
    assert issued.app_password.encode() in made.content
    again = browser.get("/account")
    assert b"dbt" in again.content
    assert issued.app_password.encode() not in again.content
    browser.post(f"/account/tokens/{issued.token.client_id}/revoke")
    assert str(issued.token.client_id).encode() not in browser.get("/account").content


def test_secrets_are_made_rotated_and_dropped(browser: Client) -> None:
    browser.post("/secrets", {"name": "pw", "value": "one"})
    item = next(row for row in reads.secrets() if row.name == "pw")
    taken = browser.post("/secrets", {"name": "pw", "value": "two"})
    assert b"already exists" in taken.content
    browser.post("/secrets/rotate", {"id": item.id, "value": "three"})
    page = browser.get("/secrets").content
    assert b"Rotated secret pw" in page
    browser.post(f"/items/{item.id}/drop")
    assert not reads.secrets()


def test_dropping_says_what_goes_too(browser: Client, seeded: User) -> None:
    source = _item("auction")
    page = browser.get(f"/sources/{source}").content.decode()
    assert "DROP SOURCE auction CASCADE;" in re.sub("<[^>]+>", "", page)
    assert "Drop all" in page
    assert "Their copied rows here are deleted" in page
    browser.post(f"/items/{source}/drop")
    assert {item.name for item in reads.items()} == {"pw", "pg"}


def test_renaming(browser: Client, seeded: User) -> None:
    for kind, name in (("tables", "bids"), ("sources", "auction"), ("connections", "pg")):
        item = _item(name)
        assert b'id="rename"' in browser.get(f"/{kind}/{item}").content
        answer = browser.post(f"/items/{item}/rename", {"name": f'{name} "two"'})
        assert answer["Location"] == f"/{kind}/{item}"
        assert _item(f'{name} "two"') == item
    taken = browser.post(f"/items/{_item('dear')}/rename", {"name": 'bids "two"'}, follow=True)
    assert b"already exists" in taken.content


def test_a_search_finds_upstream_names(browser: Client, seeded: User) -> None:
    for wanted in ("bids", "auction.bids", "AUCTION"):
        assert b">bids</a>" in browser.get("/tables", {"q": wanted}).content, wanted
    assert b"Nothing matches" in browser.get("/tables", {"q": "shop.bids"}).content


def test_a_lost_session_leads_back_to_the_page(browser: Client, seeded: User) -> None:
    source = f"/sources/{_item('auction')}"
    stranger = Client()
    part = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{source}?tab=references"}
    sent = stranger.get(f"/tables/{_item('bids')}/rows", headers=part)
    assert sent["HX-Redirect"] == f"/sign-in?next={source.replace('/', '%2F')}%3Ftab%3Dreferences"
    posted = stranger.post(f"{source}/refresh", headers={"Referer": f"http://testserver{source}"})
    assert posted["Location"] == f"/sign-in?next={source.replace('/', '%2F')}"
    foreign = stranger.post(f"{source}/refresh", headers={"Referer": "https://evil.example/x"})
    assert foreign["Location"] == "/sign-in?next=%2F"


def test_an_app_password_signs_in(owner: User) -> None:
    issued = accounts.create_token(owner, "psql")
    client = Client()
    answer = client.post("/sign-in", {"email": owner.email, "password": issued.app_password})
    assert answer["Location"] == "/"
    assert client.get("/").status_code == 200


def test_what_is_not_there_says_so(browser: Client) -> None:
    answer = browser.get("/sources/u99")
    assert answer.status_code == 404
    assert b"Nothing here" in answer.content


def test_the_shell_runs_statements_and_marks_errors(browser: Client, seeded: User) -> None:
    shown = browser.post("/shell/run", {"sql": "SHOW SOURCES; SHOW TABLES"}).content.decode()
    assert shown.count('class="card result"') == 2
    assert "auction" in shown
    answer = browser.post("/shell/run", {"sql": "SHOW SOURCES;\nSELEC 1"}).content.decode()
    assert 'data-position="14"' in answer
    assert "LINE 2: SELEC 1\n        ^" in answer


def test_the_audit_log_filters_and_pages(browser: Client, seeded: User) -> None:
    bids = _item("bids")
    page = browser.get(f"/audit?object={bids}").content.decode()
    assert "bids" in page
    assert "auction-rows" not in page
    assert browser.get("/audit?before=2").content.decode().count("<tr id=") == 1
