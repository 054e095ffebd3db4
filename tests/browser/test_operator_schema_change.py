"""A column comes upstream: the table is switched to a new one, step by step, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import signed_in_page
from tests.browser.test_operator_walk import rows, wait
from tests.services import product as products
from tests.services.postgres import Postgres
from tests.services.product import Product

pytestmark = [pytest.mark.browser, pytest.mark.postgres, pytest.mark.spark]
Picture = Callable[[Page, str], None]
LONG = 240_000
"""Milliseconds for a first computation on a busy machine."""
SHOP = """
create table orders (id int primary key, customer int, amount numeric(10, 2));
insert into orders select n, n % 7, n from generate_series(1, 300) n;
create publication shop for all tables;
"""


@pytest.fixture(scope="module")
def upstream(postgres: Postgres) -> str:
    """A shop's database."""
    dsn = postgres.create_database("changing_shop")
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in SHOP.strip().split(";\n"):
            connection.execute(statement)
    return dsn


@pytest.fixture(scope="module")
def region(upstream: str, postgres: Postgres) -> Iterator[Product]:
    """A product with a table of the shop, a plain view and a materialized view on it."""
    with products.running() as running:
        running.sql(f"CREATE SECRET pw AS '{postgres.password}'")
        running.sql(
            f"CREATE CONNECTION pg TO POSTGRES (HOST '{postgres.host}', PORT {postgres.port}, "
            f"DATABASE 'changing_shop', USER '{postgres.user}', PASSWORD SECRET pw)"
        )
        running.sql("CREATE SOURCE shop FROM POSTGRES CONNECTION pg (PUBLICATION 'shop')")
        running.sql("CREATE TABLE orders FROM SOURCE shop (REFERENCE public.orders)")
        running.sql("CREATE VIEW dear AS SELECT customer, amount FROM orders WHERE amount > 10")
        running.sql(
            "CREATE MATERIALIZED VIEW revenue AS SELECT customer, count(*) AS orders, "
            "sum(amount) AS revenue FROM dear GROUP BY customer"
        )
        wait(lambda: rows(running, "SELECT sum(orders) FROM revenue") == 290)
        with psycopg.connect(upstream, autocommit=True) as connection:
            connection.execute("alter table orders add column note text default 'new'")
        running.sql("ALTER SOURCE shop REFRESH REFERENCES")
        yield running


@pytest.fixture(scope="module")
def page(chromium: Browser, region: Product) -> Iterator[Page]:
    """The operator's page."""
    opened = signed_in_page(chromium, region, "light")
    yield opened
    opened.context.close()


def _done(page: Page, title: str) -> None:
    step = page.locator(".switch", has_text=title).first
    expect(step).to_have_class("switch done", timeout=LONG)


def _do(page: Page, title: str) -> None:
    page.locator("#change-next button").click()
    _done(page, title)


def test_drift_is_seen_and_the_switch_begun(page: Page, picture: Picture) -> None:
    page.goto("/schema-changes")
    expect(page.locator("tbody").first).to_contain_text('column "note" was added')
    picture(page, "48-drift")
    page.get_by_role("button", name="Begin the switch of orders").click()
    expect(page.locator(".switch")).to_have_count(7)
    expect(page.locator("#change-next")).to_contain_text("beside the old table")
    picture(page, "49-steps-of-a-switch")


def test_the_new_side_is_made_and_compared(page: Page, upstream: str, picture: Picture) -> None:
    _do(page, "Make the new table")
    _done(page, "Read its snapshot")
    _do(page, "Make a view beside the old one")
    _do(page, "Stage a replacement")
    with psycopg.connect(upstream, autocommit=True) as connection:
        connection.execute("insert into orders values (1000, 3, 500, 'while it goes on')")
    _done(page, "Compare every row")
    picture(page, "50-compared")
    page.locator(".switch", has_text="Compare every row").get_by_role("link").click()
    expect(page.locator("#replacement-staged")).to_contain_text("No row changes", timeout=LONG)
    page.go_back()


def test_it_is_applied_and_the_old_table_retired(
    page: Page, region: Product, picture: Picture
) -> None:
    _do(page, "Apply the replacement")
    page.locator("#change-next button").click()
    expect(page.locator("#change-status")).to_have_text("done")
    picture(page, "51-switched")
    wait(lambda: rows(region, "SELECT sum(orders) FROM revenue") == 291)
    assert rows(region, "SELECT count(*) FROM orders WHERE note = 'new'") == 300
    assert rows(region, "SELECT count(*) FROM dear") == 291
    names = {row[0] for row in region.sql("SHOW TABLES")}
    assert names == {"orders"}
