"""A view made, replaced, compared, applied and taken back, in a real browser on the product."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.services.product import Product

pytestmark = [pytest.mark.browser, pytest.mark.spark]
Picture = Callable[[Page, str], None]
LONG = 240_000
"""Milliseconds for a first computation on a busy machine."""
COUNTRIES = ("AT", "CH", "DE", "FR", "IT", "PL")
STATES = ("paid", "paid", "sent", "cancelled", "paid")
REVENUE = """SELECT c.country, count(*) AS orders, sum(o.amount) AS revenue
FROM orders o
JOIN customers c ON c.id = o.customer
GROUP BY c.country"""
BETTER = """SELECT c.country, count(*) AS orders, sum(o.amount) AS revenue,
  max(o.amount) AS largest
FROM orders o
JOIN customers c ON c.id = o.customer
WHERE o.state <> 'cancelled' AND c.country <> 'PL'
GROUP BY c.country"""


@pytest.fixture(scope="module")
def page(open_page: Callable[[str], Page]) -> Iterator[Page]:
    """One page for the whole walk."""
    opened = open_page("light")
    yield opened
    opened.context.close()


@pytest.fixture(scope="module")
def shop(product: Product) -> Product:
    """Two tables: 30 customers in six countries, 400 orders, a fifth of them cancelled."""
    product.sql(
        "CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, country text NOT NULL)"
    )
    product.sql(
        "CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, "
        "amount numeric(10,2) NOT NULL, state text NOT NULL)"
    )
    people = ", ".join(f"({n}, 'Customer {n}', '{COUNTRIES[n % 6]}')" for n in range(30))
    product.sql(f"INSERT INTO customers VALUES {people}")
    orders = ", ".join(
        f"({n}, {n * 7 % 30}, {20 + n * 37 % 480}.50, '{STATES[n % 5]}')" for n in range(400)
    )
    product.sql(f"INSERT INTO orders VALUES {orders}")
    return product


def _type(page: Page, sql: str) -> None:
    page.locator("sql-editor .cm-content").wait_for()
    page.evaluate("sql => { document.querySelector('sql-editor').value = sql; }", sql)


def _running(page: Page) -> None:
    expect(page.locator("#live-pill")).to_have_attribute("data-state", "on")
    expect(page.locator("#view-status")).to_have_text("running", timeout=LONG)


def test_an_editor_that_comes_late_leaves_the_focus(page: Page, shop: Product) -> None:
    held: list[Route] = []
    page.route(re.compile("vendor/sql-editor"), lambda route: held.append(route))
    page.goto("/views/new", wait_until="commit")
    page.locator("#name").press_sequentially("reve")
    held[0].continue_()
    page.unroute_all()
    page.wait_for_load_state()
    expect(page.locator("sql-editor .cm-scroller[tabindex]")).to_be_visible()
    page.keyboard.insert_text("nue")
    expect(page.locator("#name")).to_have_value("revenue")


def test_a_view_is_made_with_a_preview(page: Page, shop: Product, picture: Picture) -> None:
    page.goto("/views")
    expect(page.get_by_text("No materialized views yet")).to_be_visible()
    page.locator("main .btn.primary").click()
    page.fill("#name", "revenue")
    _type(page, REVENUE.replace("o.amount", "o.ammount"))
    expect(page.locator("#preview .excerpt")).to_contain_text("LINE 1")
    expect(page.locator("sql-editor .mark-error")).to_have_text("o.ammount")
    picture(page, "20-view-error")
    _type(page, REVENUE)
    expect(page.locator("#preview")).to_contain_text("It would be kept incrementally")
    expect(page.locator("#first-rows tbody tr")).to_have_count(6)
    expect(page.locator("#check-state")).to_have_text("Ready to be created")
    picture(page, "21-view-preview")
    page.locator("#create").click()
    _running(page)
    expect(page.locator("#preview tbody tr")).to_have_count(6)
    picture(page, "22-view")


def test_changes_reach_the_page(page: Page, shop: Product) -> None:
    shop.sql("INSERT INTO orders VALUES (1000, 0, 5000.00, 'paid')")
    expect(page.locator("#preview")).to_contain_text("22015.5")


def test_lineage_is_traced(page: Page, shop: Product, picture: Picture) -> None:
    shop.sql(
        "CREATE MATERIALIZED VIEW best AS SELECT country, revenue FROM revenue "
        "WHERE revenue > 10000"
    )
    shop.sql("CREATE VIEW names AS SELECT country FROM best")
    page.get_by_role("link", name="Lineage").click()
    expect(page.locator("svg .node")).to_have_count(5)
    page.locator("svg .col", has_text="revenue").first.click()
    expect(page.locator("svg .trace.on").first).to_be_visible()
    picture(page, "23-lineage")


def test_a_replacement_is_staged(page: Page, shop: Product, picture: Picture) -> None:
    page.get_by_role("link", name="Replace definition").click()
    expect(page.locator("#name")).to_have_value("revenue_next")
    expect(page.locator("#check-state")).to_have_text("Ready to be staged")
    _type(page, "SELECT country, 1 AS orders FROM customers")
    expect(page.locator("#preview")).to_contain_text(
        "replacement schema differs from target schema"
    )
    picture(page, "24-replacement-does-not-fit")
    _type(page, BETTER)
    expect(page.locator("#check-state")).to_have_text("Ready to be staged")
    expect(page.locator("#first-rows tbody tr")).to_have_count(5)
    picture(page, "25-replacement-editor")
    page.locator("#create").click()
    _running(page)
    expect(page.locator("#replacement-staged .chg dd")).to_have_text("5", timeout=LONG)
    expect(page.locator("#replacement-staged .del dd")).to_have_text("1")
    expect(page.locator("#replacement-staged .add dd")).to_have_text("0")
    expect(page.locator("#staged-rows tbody.changed")).to_have_count(5)
    expect(page.locator("#staged-rows tbody.removed")).to_contain_text("PL")
    picture(page, "26-staged")


def test_what_is_above_is_counted(page: Page, shop: Product, picture: Picture) -> None:
    page.get_by_role("button", name="Count the rows").click()
    expect(page.locator("#impact")).to_contain_text("counted at one timestamp")
    expect(page.locator("#impact tbody tr").first).to_contain_text("best")
    page.locator("#h-definition").scroll_into_view_if_needed()
    picture(page, "27-definition-and-impact")


def test_guard_rails_are_set(page: Page, shop: Product, picture: Picture) -> None:
    page.locator("[name=automatic]").check()
    page.fill("[name=max_rows]", "3")
    page.locator(".guard button").click()
    expect(page.locator("#replacement-staged .tag.warn")).to_contain_text("3")
    expect(page.locator("#view-status")).to_have_text("running")
    picture(page, "28-guard-rails")


def test_applying_names_its_numbers(page: Page, shop: Product, picture: Picture) -> None:
    page.locator("[data-open='#apply']").click()
    expect(page.locator("#apply")).to_contain_text("5 rows changed")
    expect(page.locator("#apply")).to_contain_text("best")
    picture(page, "29-apply")
    page.locator("#apply .primary").click()
    expect(page.locator(".versions > li")).to_have_count(2)
    expect(page.locator(".versions .now")).to_contain_text("from replacement")
    picture(page, "30-applied")
    rows = shop.sql("SELECT country FROM revenue ORDER BY country")
    assert [row[0] for row in rows] == ["AT", "CH", "DE", "FR", "IT"]


def test_it_is_taken_back(page: Page, shop: Product, picture: Picture) -> None:
    page.locator(".title [data-open='#undo']").click()
    expect(page.locator("#undo")).to_contain_text("ROLLBACK REPLACEMENT")
    picture(page, "31-undo")
    page.locator("#undo .primary").click()
    expect(page.locator(".versions > li")).to_have_count(3)
    expect(page.locator(".versions .now")).to_contain_text("Undone")
    rows = shop.sql("SELECT country FROM revenue ORDER BY country")
    assert [row[0] for row in rows] == sorted(COUNTRIES)
    picture(page, "32-undone")


def test_a_result_of_the_shell_is_kept(page: Page, shop: Product) -> None:
    page.goto("/shell?sql=SELECT+state,+count(*)+AS+n+FROM+orders+GROUP+BY+state")
    page.locator("sql-editor .cm-content").click()
    page.keyboard.press("Control+Enter")
    page.get_by_role("link", name="Keep as a view").click()
    expect(page.locator("#preview")).to_contain_text("give the view a name")
    expect(page.locator("#first-rows tbody tr")).to_have_count(3)


def test_the_list_and_the_overview(page: Page, shop: Product, picture: Picture) -> None:
    page.goto("/views")
    expect(page.locator("#view-rows tr")).to_have_count(2)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    picture(page, "33-views-dark")
