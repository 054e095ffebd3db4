"""No page has a serious fault of accessibility, in either theme."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from catalog import reads
from catalog.migrate import rollout
from catalog.migrate.releases import prepare
from catalog.migrate.schema_change import store as schema_changes
from catalog.models import ExportProgress, User
from tests.browser.conftest import FLAGS, PATIENCE
from tests.console.pages.conftest import run
from tests.console.pages.seeding import seed_views

pytestmark = pytest.mark.browser
PAGES = (
    "/",
    "/sources",
    "/sources/new",
    "/tables",
    "/views",
    "/views/new",
    "/connections",
    "/secrets?new=1",
    "/audit",
    "/objects",
    "/shell",
    "/account?new=1",
    "/nowhere",
)
OLD = (
    "ALTER SYSTEM SET force_source_table_syntax = off",
    "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER",
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION FOR ALL TABLES",
    "CREATE VIEW ticks AS SELECT counter FROM counter",
    "CREATE TABLE offers FROM SOURCE house (REFERENCE bids)",
    "CREATE MATERIALIZED VIEW many AS SELECT count(*) AS n FROM offers",
)
PLAN = "/migrations/local/embedded/m1"
OF_OWNERS = (
    "/migrations",
    *(f"{PLAN}?tab={tab}" for tab in ("overview", "steps", "ids", "dependents", "events")),
    "/builtins",
    "/builtins?tab=status",
    *(f"/rollout?tab={tab}" for tab in ("regions", "cohorts", "announcements", "defaults")),
    "/rollout/local/embedded",
    "/schema-changes",
    "/schema-changes/c1",
)


@pytest.fixture
def page(
    chromium_path: str, browser: Client, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Page]:
    """A signed-in page."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        context = chromium.new_context(base_url=live_server.url)
        session = browser.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE)
        yield opened
        chromium.close()


@pytest.mark.django_db(transaction=True)
def test_nothing_serious_for_axe(page: Page, seeded: User, many: str) -> None:
    seed_views(seeded)
    places = _places(page)
    found: dict[str, list[str]] = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for place in places:
            found[f"{place} {theme}"] = _faults(page, place)
    assert {place: faults for place, faults in found.items() if faults} == {}


def _places(page: Page) -> list[str]:
    items = {item.kind: item.id for item in reversed(reads.items())}
    source, table = f"/sources/{items['source']}", f"/tables/{items['table']}"
    tabs = [f"{source}?tab={tab}" for tab in ("overview", "references", "history", "sql")]
    tabs += [f"{table}?tab={tab}" for tab in ("columns", "dependents", "history", "sql")]
    begun = page.request.get(f"/sources/new/tables?source={items['source']}").url
    draft = begun.partition("?")[0]
    steps = [f"{draft}?step={step}" for step in ("source", "tables", "review")]
    fresh = page.request.get("/sources/new/begin").url
    return [*PAGES, *_views(), *tabs, *steps, fresh, f"/connections/{items['connection']}"]


def _views() -> list[str]:
    ids = {item.name: item.id for item in reads.items()}
    view = f"/views/{ids['top_bids']}"
    tabs = ("overview", "columns", "lineage", "replacements", "versions", "history")
    staged = [f"/replacements/{ids[name]}" for name in ("top_bids_next", "top_bids_slow")]
    lineage = f"/lineage/{ids['bids']}"
    return [*(f"{view}?tab={tab}" for tab in tabs), f"{view}/replace", *staged, lineage]


@pytest.mark.django_db(transaction=True)
def test_nothing_serious_on_pages_of_owners(page: Page, owner: User) -> None:
    for statement in OLD:
        run(owner, statement)
    ExportProgress.objects.update(readable_from=1, status="running")
    prepare("local/embedded")
    now = timezone.now()
    rollout.set_cohort("first", ("local/embedded",))
    rollout.set_window("first", now, now + timedelta(hours=1))
    rollout.announce("Tables", "Sources become tables.", owner.email, "first")
    table = next(item.id for item in reads.items() if item.name == "offers")
    schema_changes.begin("local/embedded", table, owner.email)
    page.goto("/migrations")
    page.get_by_role("button", name="Plan sources to tables").click()
    page.locator("h1", has_text="m1").wait_for()
    found: dict[str, list[str]] = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for place in OF_OWNERS:
            found[f"{place} {theme}"] = _faults(page, place)
        found[f"a step {theme}"] = _opened(page, f"{PLAN}?tab=steps", ".steps summary", ".compare")
        for name in ("approve", "apply"):
            opener, dialog = f"[data-open='#{name}']", f"#{name}"
            found[f"{name} {theme}"] = _opened(page, PLAN, opener, dialog)
    assert {place: faults for place, faults in found.items() if faults} == {}


def _opened(page: Page, place: str, opener: str, shown: str) -> list[str]:
    page.goto(place)
    page.locator(opener).first.click()
    page.locator(shown).first.wait_for()
    return _serious(page)


def _faults(page: Page, place: str) -> list[str]:
    page.goto(place)
    return _serious(page)


def _serious(page: Page) -> list[str]:
    violations = Axe().run(page).response["violations"]
    return [
        f"{v['id']}: {node['html'][:120]}"
        for v in violations
        if v["impact"] in {"serious", "critical"}
        for node in v["nodes"][:2]
    ]
