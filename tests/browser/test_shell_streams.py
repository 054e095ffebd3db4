"""SUBSCRIBE in the SQL shell, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.services.product import Product

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.postgres]


@pytest.fixture(scope="module")
def page(open_page: Callable[[str], Page]) -> Iterator[Page]:
    opened = open_page("light")
    yield opened
    opened.context.close()


@pytest.fixture(scope="module", autouse=True)
def _tickets(product: Product) -> Iterator[None]:
    product.sql("CREATE TABLE tickets (id int, title text)")
    product.sql("INSERT INTO tickets VALUES (1, 'first'), (2, 'second')")
    yield
    product.sql("DROP TABLE tickets")


def _run(page: Page, sql: str) -> None:
    page.locator("sql-editor .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type(sql)
    page.keyboard.press("Control+Enter")


def test_changes_come_until_it_is_stopped(
    page: Page, product: Product, picture: Callable[[Page, str], None]
) -> None:
    page.goto("/shell")
    _run(page, "SUBSCRIBE tickets")
    card = page.locator("#results .stream")
    expect(card.locator(".state")).to_have_text("live")
    expect(card.locator("tbody tr")).to_have_count(2)
    expect(page.locator("#run")).to_be_disabled()
    product.sql("INSERT INTO tickets VALUES (3, 'third')")
    expect(card.locator("tbody tr.come")).to_contain_text("third")
    product.sql("UPDATE tickets SET title = 'changed' WHERE id = 1")
    expect(card.locator("tbody tr.gone")).to_contain_text("first")
    expect(card.locator("tbody tr")).to_have_count(5)
    expect(card.locator(".rows")).to_have_text("5 rows told")
    picture(page, "14-subscribe")
    card.get_by_role("button", name="Pause").click()
    product.sql("DELETE FROM tickets WHERE id = 2")
    expect(card.locator(".through")).to_have_text("Paused, 1 wait")
    expect(card.locator("tbody tr")).to_have_count(5)
    card.get_by_role("button", name="Go on").click()
    expect(card.locator("tbody tr").first).to_contain_text("second")
    card.get_by_role("button", name="Stop").click()
    expect(card.locator(".state")).to_have_text("stopped")
    expect(page.locator("#run-state")).to_have_text("Stopped")
    expect(page.locator("#run")).to_be_enabled()


def test_several_statements_progress_and_an_end(page: Page, product: Product) -> None:
    now = product.value("SELECT mz_now()")
    page.goto("/shell")
    _run(page, f"SELECT 1 AS one; SUBSCRIBE tickets WITH (PROGRESS) UP TO {int(now or 0) + 8000}")
    cards = page.locator("#results .stream")
    expect(cards).to_have_count(2)
    expect(cards.nth(0).locator(".state")).to_have_text("SELECT 1")
    expect(cards.nth(1).locator(".through")).to_contain_text("complete before")
    expect(cards.nth(1).locator(".state")).to_have_text("complete")
    expect(page.locator("#run-state")).to_have_text("Complete")


def test_errors_are_marked(page: Page) -> None:
    page.goto("/shell")
    _run(page, "SUBSCRIBE nowhere")
    expect(page.locator("#results .result")).to_contain_text("unknown catalog item 'nowhere'")
    expect(page.locator("sql-editor .mark-error")).to_have_text("nowhere")
    expect(page.locator("#run")).to_be_enabled()


def test_leaving_ends_it(page: Page, product: Product) -> None:
    page.goto("/shell")
    _run(page, "SUBSCRIBE tickets")
    expect(page.locator("#results .stream tbody tr").first).to_be_visible()
    asked = "SELECT count(*) FROM mz_internal.mz_subscriptions"
    page.goto("/shell")
    for _ in range(100):
        if product.value(asked) == "0":
            break
        page.wait_for_timeout(200)
    assert product.value(asked) == "0"
