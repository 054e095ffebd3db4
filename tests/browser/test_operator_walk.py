"""A region in the older form is planned, looked at, migrated and taken back, in a real browser.

The product is one of its own: the other walks begin with an empty console.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import signed_in_page
from tests.services import product as products
from tests.services.product import Product, SqlFailure

pytestmark = [pytest.mark.browser, pytest.mark.spark]
Picture = Callable[[Page, str], None]
LONG = 240.0
"""Seconds for a first snapshot on a busy machine."""
OLD = (
    "ALTER SYSTEM SET force_source_table_syntax = off",
    "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')",
    "CREATE SOURCE auction_house FROM LOAD GENERATOR AUCTION FOR ALL TABLES",
    "CREATE VIEW dear_bids AS SELECT id, auction_id, amount FROM bids WHERE amount > 50",
    "CREATE MATERIALIZED VIEW ticks AS SELECT count(*) AS ticks, max(counter) AS highest "
    "FROM counter",
)


@pytest.fixture(scope="module")
def region() -> Iterator[Product]:
    """A product whose region is in the older form, with rows in everything."""
    with products.running() as running:
        for statement in OLD:
            running.sql(statement)
        wait(lambda: rows(running, "SELECT count(*) FROM users") > 0)
        wait(lambda: rows(running, "SELECT ticks FROM ticks") > 2)
        yield running


def wait(done: Callable[[], bool]) -> None:
    """Until it is done, for as long as a busy machine may take."""
    deadline = time.monotonic() + LONG
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def rows(product: Product, sql: str) -> int:
    """The number that a query tells; 0 while it cannot be read yet."""
    try:
        return int(product.value(sql) or 0)
    except SqlFailure as error:
        if error.error.get("code") != "55000":
            raise
        return 0


@pytest.fixture(scope="module")
def page(chromium: Browser, region: Product) -> Iterator[Page]:
    """The operator's page."""
    opened = signed_in_page(chromium, region, "light")
    yield opened
    opened.context.close()


@pytest.fixture(scope="module")
def watcher(chromium: Browser, region: Product) -> Iterator[Page]:
    """Somebody else's page, never reloaded."""
    opened = signed_in_page(chromium, region, "dark")
    yield opened
    opened.context.close()


def _live(page: Page) -> None:
    expect(page.locator("#live-pill")).to_have_attribute("data-state", "on")


def test_what_is_left_is_planned(page: Page, picture: Picture) -> None:
    page.goto("/")
    page.get_by_role("link", name="Migrations", exact=True).click()
    _live(page)
    row = page.locator("#region-rows tr")
    expect(row.locator("td.num").first).to_have_text("7")
    picture(page, "34-what-is-left")
    row.get_by_role("button", name="Plan sources to tables").click()
    expect(page.locator("#migration-status")).to_have_text("planned")
    expect(page.locator("#migration-next")).to_contain_text("Look at its steps")
    expect(page.locator("#migration-numbers")).to_contain_text("none of it moved")
    _live(page)
    picture(page, "35-plan")


def test_a_step_is_read(page: Page, picture: Picture) -> None:
    page.get_by_role("link", name=re.compile("^Steps")).click()
    page.fill("#q", "counter")
    page.keyboard.press("Enter")
    expect(page.locator(".steps summary").first).to_contain_text("counter_source")
    page.locator(".steps summary").first.click()
    page.locator(".steps summary", has_text="new table").click()
    expect(page.locator(".step .compare")).to_have_count(2)
    expect(page.locator(".step").first).to_contain_text("The source keeps its id")
    expect(page.locator(".step .compare .after").first).to_contain_text("counter_source")
    picture(page, "36-a-step")


def test_ids_and_dependents(page: Page, picture: Picture) -> None:
    page.get_by_role("link", name=re.compile("^Id map")).click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("link", name=re.compile("^Dependents")).click()
    expect(page.locator("tbody")).to_contain_text("headrace.public.ticks")
    expect(page.locator("tbody")).to_contain_text("headrace.public.dear_bids")
    picture(page, "37-dependents")


@pytest.mark.parametrize("label", ["dbt", "Terraform", "SQL"])
def test_what_to_change_elsewhere_is_downloaded(page: Page, label: str) -> None:
    page.get_by_role("link", name="What will happen").click()
    with page.expect_download() as begun:
        page.get_by_role("link", name=label, exact=True).click()
    text = Path(begun.value.path()).read_text()
    assert begun.value.suggested_filename == f"m1-{label.lower()}.txt"
    assert "counter_source" in text


def test_it_is_approved(page: Page, watcher: Page, picture: Picture) -> None:
    watcher.goto(page.url)
    _live(watcher)
    page.locator("[data-open='#approve']").click()
    expect(page.locator("#approve")).to_contain_text("The region is in no cohort")
    page.locator("#approve .primary").click()
    expect(page.locator("#migration-status")).to_have_text("approved")
    expect(watcher.locator("#migration-status")).to_have_text("approved")


def test_it_is_applied(page: Page, watcher: Page, region: Product, picture: Picture) -> None:
    before = rows(region, "SELECT ticks FROM ticks")
    page.locator("[data-open='#apply']").click()
    expect(page.locator("#apply")).to_contain_text("without moving")
    picture(page, "38-apply")
    page.locator("#apply .primary").click()
    expect(page.locator("#migration-status")).to_have_text("applied")
    expect(page.locator("#migration-next")).to_contain_text("roll it back if something is wrong")
    expect(watcher.locator("#migration-status")).to_have_text("applied")
    _live(page)
    picture(page, "39-applied")
    names = {row[0] for row in region.sql("SHOW TABLES")}
    assert {"counter", "bids", "users", "auctions"} <= names
    assert {row[0] for row in region.sql("SHOW SOURCES")} == {"counter_source", "auction_house"}
    assert rows(region, "SELECT count(*) FROM dear_bids") >= 0
    wait(lambda: rows(region, "SELECT ticks FROM ticks") > before)


def test_what_happened_is_told(page: Page, picture: Picture) -> None:
    page.get_by_role("link", name="What happened").click()
    expect(page.locator("#migration-events tr")).to_have_count(4)
    picture(page, "40-what-happened")
    page.goto("/tables")
    expect(page.locator("#table-rows")).to_contain_text("counter")
    picture(page, "41-tables")


def test_it_is_taken_back(page: Page, watcher: Page, region: Product, picture: Picture) -> None:
    before = rows(region, "SELECT ticks FROM ticks")
    page.goto("/migrations/local/embedded/m1")
    page.locator("[data-open='#rollback']").click()
    expect(page.locator("#rollback-check")).to_contain_text("nothing is in the way")
    picture(page, "42-roll-back")
    page.locator("#rollback footer .danger").click()
    expect(page.locator("#migration-status")).to_have_text("rolled back")
    expect(watcher.locator("#migration-status")).to_have_text("rolled back")
    picture(watcher, "43-rolled-back")
    assert {row[0] for row in region.sql("SHOW TABLES")}.isdisjoint({"counter", "bids"})
    wait(lambda: rows(region, "SELECT ticks FROM ticks") > before)


def test_a_stale_plan_is_refused(page: Page, region: Product, picture: Picture) -> None:
    page.get_by_role("button", name="Plan again").click()
    expect(page.locator("h1")).to_contain_text("m2")
    region.sql("CREATE SOURCE late FROM LOAD GENERATOR COUNTER")
    expect(page.locator("#migration-trouble")).to_contain_text("The catalog changed since")
    page.locator("[data-open='#apply']").click()
    page.locator("#apply .primary").click()
    expect(page.locator("#migration-trouble")).to_contain_text("since migration m2 was planned")
    picture(page, "44-stale")
    page.locator("#migration-trouble button").click()
    expect(page.locator("h1")).to_contain_text("m3")


def test_a_cohort_gets_a_window(page: Page, picture: Picture) -> None:
    page.goto("/rollout?tab=cohorts")
    page.get_by_role("button", name="New cohort").click()
    page.fill("#set-cohort [name=name]", "first")
    page.locator("#set-cohort [name=regions]").check()
    page.fill("#set-cohort [name=opens]", "2030-12-01 02:00")
    page.fill("#set-cohort [name=closes]", "2030-12-01 04:00")
    page.locator("#set-cohort .primary").click()
    expect(page.locator("#cohort-rows")).to_contain_text("waits for its window")
    page.get_by_role("button", name="Pause cohort first").click()
    expect(page.locator("#cohort-rows .st")).to_have_text("paused")
    picture(page, "45-cohorts")
    page.goto("/rollout/local/embedded")
    expect(page.get_by_text("How its flags changed")).to_be_visible()
    picture(page, "46-a-region")


def test_the_next_start(page: Page, picture: Picture) -> None:
    page.goto("/builtins")
    expect(page.locator(".st").first).to_have_text("nothing to do")
    picture(page, "47-built-ins")
