"""From an empty console to live tables, in a real browser, against a real PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.services.postgres import Postgres

pytestmark = [pytest.mark.browser, pytest.mark.postgres, pytest.mark.spark]

PAGES = (
    "/",
    "/sources",
    "/sources/new",
    "/tables",
    "/connections",
    "/secrets",
    "/audit",
    "/objects",
    "/shell",
    "/account",
)
TABLES = ("customers", "orders", "awkward", 'Odd "Names" & Co')


@pytest.fixture(scope="module")
def page(open_page: Callable[[str], Page]) -> Iterator[Page]:
    """One page for the whole walk."""
    opened = open_page("light")
    yield opened
    opened.context.close()


def _live(page: Page) -> None:
    expect(page.locator("#live-pill")).to_have_attribute("data-state", "on", timeout=30_000)


def test_the_walk_to_live_tables(
    page: Page, shop: Postgres, picture: Callable[[Page, str], None]
) -> None:
    page.goto("/")
    expect(page.get_by_text("Bring in your first tables")).to_be_visible()
    picture(page, "01-empty-console")
    page.get_by_role("button", name="PostgreSQL", exact=True).click()
    _connect(page, shop, picture)
    _name_the_source(page, picture)
    _choose(page, picture)
    expect(page.locator(".sql code")).to_contain_text("CREATE TABLE customers")
    picture(page, "06-review")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/sources/u\d+$"))
    _live(page)
    picture(page, "07-progress")
    live = page.locator("#source-count")
    expect(live).to_contain_text("4 live", timeout=180_000)
    picture(page, "08-live")


def _connect(page: Page, shop: Postgres, picture: Callable[[Page, str], None]) -> None:
    values = {
        "name": "shop_pg",
        "host": shop.host,
        "port": str(shop.port),
        "database": "shop",
        "user": shop.user,
        "password": "wrong" if shop.password else "",
    }
    for name, value in values.items():
        page.fill(f"#new-connection [name={name}]", value)
    if shop.password:
        page.keyboard.press("Control+Enter")
        expect(page.locator(".checks .error")).to_be_visible()
        picture(page, "02-wrong-password")
        page.fill("#new-connection [name=password]", shop.password)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".foot")).to_contain_text("Continue")
    picture(page, "03-checked")
    page.locator(".foot .primary").click()


def _name_the_source(page: Page, picture: Callable[[Page, str], None]) -> None:
    expect(page.locator("[name=publication][value=headrace]")).to_be_checked()
    picture(page, "04-source")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#h1")).to_have_text("Choose tables")


def _choose(page: Page, picture: Callable[[Page, str], None]) -> None:
    expect(page.locator(".intro")).to_contain_text("2,004")
    page.keyboard.press("/")
    page.keyboard.type("public")
    expect(page.locator("#selbar")).to_contain_text("Select all 4 matching")
    page.locator("[data-all]").click()
    expect(page.locator("#foot")).to_contain_text("4 tables")
    picture(page, "05-tables")
    while page.locator("#foot .pending").count():
        page.locator("button.tag.warn[data-cols]").first.click()
        page.locator(".col.todo label", has_text="Text").first.click()
        page.wait_for_timeout(800)
    page.locator("#foot .primary").click()


def test_the_tables_follow_the_upstream(
    page: Page, shop: Postgres, picture: Callable[[Page, str], None]
) -> None:
    with psycopg.connect(shop.dsn_of("shop"), autocommit=True) as connection:
        connection.execute("insert into customers values (0, 'A new one', 'new@shop.example')")
    page.goto("/tables?q=customers")
    page.get_by_role("link", name="customers", exact=True).click()
    _live(page)
    for _ in range(30):
        expect(page.locator("#preview .rowsgrid, #preview .alert")).to_be_visible()
        if page.locator("#preview").get_by_text("A new one").count():
            break
        page.get_by_text("Read again").click()
        page.wait_for_timeout(1500)
    expect(page.locator("#preview")).to_contain_text("A new one")
    picture(page, "09-table")


def test_the_shell_answers(page: Page, picture: Callable[[Page, str], None]) -> None:
    page.goto("/shell")
    page.locator("sql-editor .cm-content").click()
    page.keyboard.type("SELECT count(*) AS orders, sum(total) AS total FROM orders;")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#results")).to_contain_text("5000")
    picture(page, "10-shell")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_for_axe(
    theme: str, open_page: Callable[[str], Page], picture: Callable[[Page, str], None]
) -> None:
    page = open_page(theme)
    places = [*PAGES, *_items(page)]
    found = {place: serious for place in places if (serious := _axe(page, place))}
    page.goto("/")
    _live(page)
    picture(page, f"11-overview-{theme}")
    page.context.close()
    assert not found


def _items(page: Page) -> list[str]:
    page.goto("/objects")
    links = page.locator(".objects a").evaluate_all("found => found.map(a => a.pathname)")
    source = next(link for link in links if link.startswith("/sources/"))
    table = next(link for link in links if link.startswith("/tables/"))
    tabs = [f"{source}?tab={tab}" for tab in ("references", "history", "sql")]
    tabs += [f"{table}?tab={tab}" for tab in ("columns", "dependents", "history", "sql")]
    return [source, table, *tabs, f"/sources/new/tables?source={source.rpartition('/')[2]}"]


def _axe(page: Page, place: str) -> list[str]:
    page.goto(place)
    page.wait_for_timeout(500)
    violations = Axe().run(page).response["violations"]
    return [v["id"] for v in violations if v["impact"] in {"serious", "critical"}]
