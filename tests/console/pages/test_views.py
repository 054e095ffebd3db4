"""Pages of materialized views and replacements, on a catalog without an engine."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog import accounts, reads
from catalog.models import Item, User, ViewProgress
from catalog.reads import views as maintained
from tests.console.pages.conftest import PASSWORD, run
from tests.console.pages.seeding import seed_views

TABS = ("overview", "columns", "lineage", "replacements", "versions", "history")


@pytest.fixture
def ids(seeded: User) -> dict[str, str]:
    """Views in every state; ids by name."""
    return seed_views(seeded)


def _text(answer: object) -> str:
    content: bytes = answer.content  # type: ignore[attr-defined]
    return " ".join(re.sub("<[^>]+>", " ", content.decode()).split())


def test_strangers_are_sent_to_sign_in(db: None) -> None:
    for path in ("/views", "/views/u1", "/views/new", "/replacements/u1", "/lineage/u1"):
        assert Client().get(path)["Location"].startswith("/sign-in?next=")


def test_an_empty_list_leads_on(browser: Client) -> None:
    page = browser.get("/views").content
    assert b"No materialized views yet" in page
    assert b"/views/new" in page


@pytest.mark.parametrize("name", ["top_bids", "winners", "daily", "constant"])
def test_every_tab_draws(name: str, browser: Client, ids: dict[str, str]) -> None:
    for tab in TABS:
        answer = browser.get(f"/views/{ids[name]}?tab={tab}")
        assert answer.status_code == 200, tab
        assert b" style=" not in answer.content


def test_the_list_says_how_each_is_kept(browser: Client, ids: dict[str, str]) -> None:
    page = _text(browser.get("/views"))
    for words in ("incrementally", "recomputed", "every 1 hour", "sealed", "top_bids_next"):
        assert words in page, words
    assert "48,210" in page
    assert "dearest" in page
    narrowed = browser.get("/views?q=win").content
    assert b">winners</a>" in narrowed
    assert b">daily</a>" not in narrowed
    assert "Nothing matches" in browser.get("/views?q=nothing").content.decode()


def test_the_reason_of_recomputing_is_told(browser: Client, ids: dict[str, str]) -> None:
    page = _text(browser.get(f"/views/{ids['winners']}"))
    assert "Recomputed and compared" in page
    assert "LIMIT keeps rows by their place" in page


def test_comments_are_shown(browser: Client, seeded: User, ids: dict[str, str]) -> None:
    run(seeded, "COMMENT ON MATERIALIZED VIEW top_bids IS 'What each auction is worth'")
    run(seeded, "COMMENT ON COLUMN top_bids.highest IS 'In euros'")
    assert "What each auction is worth" in _text(browser.get(f"/views/{ids['top_bids']}"))
    assert "In euros" in _text(browser.get(f"/views/{ids['top_bids']}?tab=columns"))


def test_a_stalled_view_says_why(browser: Client, ids: dict[str, str]) -> None:
    ViewProgress.objects.filter(item__name="winners").update(
        status="stalled", error="division by zero", hint="Fix the row upstream."
    )
    page = _text(browser.get(f"/views/{ids['winners']}"))
    assert "division by zero" in page
    assert "Fix the row upstream." in page
    assert "View winners is stalled" in _text(browser.get("/"))


def test_lineage_is_a_graph_with_columns(browser: Client, ids: dict[str, str]) -> None:
    top = ids["top_bids"]
    page = browser.get(f"/views/{top}?tab=lineage&column={top}.highest").content.decode()
    assert 'class="col on" href="?tab=lineage&amp;column=' in page
    assert f'data-tail="{ids["bids"]}.amount" data-head="{top}.highest"' in page
    assert page.count('class="trace on"') >= 2
    assert "top_bids.highest</b> traced" in page
    table = browser.get(f"/lineage/{ids['bids']}").content.decode()
    assert f'href="/views/{top}"' in table
    assert f'href="/replacements/{ids["top_bids_next"]}"' in table
    dependents = browser.get(f"/tables/{ids['bids']}?tab=dependents").content.decode()
    assert f'href="/lineage/{ids["bids"]}"' in dependents
    assert f'href="/views/{top}"' in dependents


def test_versions_are_compared_and_undone(browser: Client, ids: dict[str, str]) -> None:
    page = browser.get(f"/views/{ids['top_bids']}?tab=versions").content.decode()
    assert "<mark>MIN</mark>" in page
    assert "<mark>MAX</mark>" in page
    assert "headrace.public.top_bids_fixed" in page
    assert "ROLLBACK REPLACEMENT;" in re.sub("<[^>]+>", "", page)
    assert 'id="undo"' not in browser.get(f"/views/{ids['daily']}").content.decode()


def test_a_replacement_shows_what_it_would_change(browser: Client, ids: dict[str, str]) -> None:
    page = _text(browser.get(f"/replacements/{ids['top_bids_next']}"))
    for words in ("120", "332", "1,044", "3.1 %", "182 KB", "More than the 1,000 rows allowed"):
        assert words in page, words
    assert "ALTER MATERIALIZED VIEW top_bids APPLY REPLACEMENT top_bids_next ;" in page
    assert "lowest" in page
    assert "view through winners" in page
    slow = browser.get(f"/replacements/{ids['top_bids_slow']}").content.decode()
    assert 'data-open="#apply" disabled' in slow
    assert "81.2K rows a second" in slow


def test_a_replacement_leads_from_the_pages_of_views(browser: Client, ids: dict[str, str]) -> None:
    item = ids["top_bids_next"]
    assert browser.get(f"/views/{item}")["Location"] == f"/replacements/{item}"
    view = ids["top_bids"]
    assert browser.get(f"/replacements/{view}")["Location"] == f"/views/{view}"
    assert browser.get("/replacements/u98").status_code == 404
    applied = browser.get("/replacements/u99")
    assert applied["Location"] == f"/views/{view}?tab=versions"


def test_guard_rails_are_saved_and_checked(browser: Client, ids: dict[str, str]) -> None:
    path = f"/replacements/{ids['top_bids_slow']}"
    form = {"automatic": "1", "max_rows": "12,000", "max_percent": "2.5 %", "window": "2:00-4:30"}
    assert browser.post(f"{path}/guard", form)["Location"] == path
    row = maintained.view(ids["top_bids_slow"])
    assert row is not None
    assert row.guard == {"rows": 12_000, "percent": 2.5, "window": [120, 270]}
    bad = browser.post(f"{path}/guard", {"automatic": "1", "max_rows": "many"})
    assert b"A whole number, or empty." in bad.content
    browser.post(f"{path}/guard", {"max_rows": "5"})
    again = maintained.view(ids["top_bids_slow"])
    assert again is not None
    assert again.guard == {}


def test_discarding_leaves_the_view(browser: Client, ids: dict[str, str]) -> None:
    answer = browser.post(f"/replacements/{ids['top_bids_slow']}/discard")
    assert answer["Location"] == f"/views/{ids['top_bids']}?tab=replacements"
    assert [row.item.name for row in maintained.replacements()] == ["top_bids_next"]
    assert maintained.view(ids["top_bids"]) is not None


def test_applying_too_early_says_so(browser: Client, ids: dict[str, str]) -> None:
    answer = browser.post(f"/replacements/{ids['top_bids_slow']}/apply")
    assert b"not hydrated" in answer.content


def test_a_hydration_is_stopped_and_goes_on(browser: Client, ids: dict[str, str]) -> None:
    item = ids["top_bids_slow"]
    answer = browser.post(f"/views/{item}/hydration/cancel")
    assert answer["Location"] == f"/replacements/{item}"
    page = browser.get(f"/replacements/{item}").content
    assert b'form="resume"' in page
    browser.post(f"/views/{item}/hydration/resume")
    assert b'form="cancel"' in browser.get(f"/replacements/{item}").content


def test_only_the_owner_stops_it(ids: dict[str, str]) -> None:
    other = Client()
    other.force_login(accounts.create_user("bob@example.com", PASSWORD))
    other.post(f"/views/{ids['top_bids_slow']}/hydration/cancel")
    assert not ViewProgress.objects.get(item__name="top_bids_slow").cancelled


def test_a_typed_query_is_foreseen(browser: Client, seeded: User) -> None:
    form = {"name": "sums", "sql": "SELECT buyer, sum(amount) AS spent FROM bids GROUP BY 1"}
    page = _text(browser.post("/views/new/check", form))
    assert "It would be kept incrementally" in page
    assert "spent bigint" in page
    assert "CREATE MATERIALIZED VIEW sums" in page
    assert not reads.items("materialized view")
    recomputed = {"name": "n", "sql": "SELECT id FROM bids LIMIT 3 OFFSET 1"}
    assert "WITH" not in _text(browser.post("/views/new/check", recomputed))


@pytest.mark.parametrize(
    ("sql", "says", "position"),
    [
        ("SELECT nope FROM bids", "line 1, column 8", 7),
        ("SELECT id\nFROM nowhere", "line 2, column 6", 15),
        ("SELECT 1; SELECT 2", "line 1", None),
        ("DROP TABLE bids", "a view needs a SELECT", 0),
        ("SELECT now() FROM bids", "cannot materialize call to now", None),
        ("", "write a query first", None),
    ],
)
def test_errors_stand_where_they_are(
    sql: str, says: str, position: int | None, browser: Client, seeded: User
) -> None:
    answer = browser.post("/views/new/check", {"name": "v", "sql": sql})
    assert says in _text(answer)
    if position is not None:
        assert f'data-position="{position}"' in answer.content.decode()


def test_a_name_that_is_taken_is_told_at_its_field(browser: Client, seeded: User) -> None:
    answer = browser.post("/views/new/check", {"name": "bids", "sql": "SELECT id FROM bids"})
    assert b'data-field="name"' in answer.content


def test_a_view_is_made(browser: Client, seeded: User) -> None:
    form = {"name": "sums", "sql": "SELECT buyer FROM bids; ", "every": "5 minutes"}
    answer = browser.post("/views/new", form)
    made = Item.objects.get(name="sums")
    assert answer["Location"] == f"/views/{made.gid}"
    assert "REFRESH = EVERY '5 minutes'" in made.create_sql
    again = browser.post("/views/new", form)
    assert b"already exists" in again.content
    assert b"SELECT buyer FROM bids" in again.content


def test_a_replacement_is_checked_and_staged(browser: Client, ids: dict[str, str]) -> None:
    path = f"/views/{ids['top_bids']}/replace"
    page = browser.get(path).content.decode()
    assert 'value="top_bids_next_2"' in page
    assert "MAX(amount) AS highest" in page
    wrong = _text(
        browser.post(
            f"{path}/check", {"name": "r", "sql": "SELECT auction_id, bids.amount AS h FROM bids"}
        )
    )
    assert "replacement schema differs from target schema" in wrong
    assert "another name" in wrong
    form = {
        "name": "third",
        "sql": "SELECT auction_id, max(amount) AS highest, count(*) AS bids, 1 AS more "
        "FROM bids GROUP BY auction_id",
        "automatic": "1",
        "max_percent": "3",
    }
    right = _text(browser.post(f"{path}/check", form))
    assert "1 more" in right
    assert re.search("MAX PERCENT *=? *3", right)
    made = browser.post(path, form)
    item = Item.objects.get(name="third")
    assert made["Location"] == f"/replacements/{item.gid}"


def test_a_result_of_the_shell_can_be_kept(browser: Client, seeded: User) -> None:
    shown = browser.post("/shell/run", {"sql": "SHOW TABLES; SHOW SOURCES"}).content
    assert b"/views/new?sql=" not in shown


def test_more_views_cost_no_more_queries(
    browser: Client, seeded: User, ids: dict[str, str]
) -> None:
    for path in ("/", "/views"):
        browser.get(path)
        with CaptureQueriesContext(connection) as few:
            browser.get(path)
        for number in range(6):
            name = f"more_{path.strip('/')}_{number}"
            run(seeded, f"CREATE MATERIALIZED VIEW {name} AS SELECT id FROM bids")
        browser.get(path)
        with CaptureQueriesContext(connection) as more:
            browser.get(path)
        assert len(more) <= len(few) + 1, path
