"""The whole product, a shop upstream, and a signed-in Chromium.

`pytest tests/browser --screenshots docs/images` also writes a picture of every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.services import product as products
from tests.services.postgres import Postgres
from tests.services.product import Product

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
SHOP = """
create table customers (id int primary key, name text not null, email varchar(80));
create table orders (
    id int primary key, customer int not null, total numeric(10, 2), at timestamptz);
create table "Odd ""Names"" & Co" ("Key" int primary key, "Größe" text, "select" bool);
create table awkward (
    id int primary key, mood mood, ip inet, span tstzrange, tags text[], doc jsonb);
insert into customers select n, 'Customer ' || n, 'c' || n || '@shop.example'
from generate_series(1, 200) n;
insert into orders select n, 1 + n % 200, n * 1.5, now() from generate_series(1, 5000) n;
insert into "Odd ""Names"" & Co" values (1, 'groß', true), (2, null, false);
insert into awkward values (1, 'glad', '10.0.0.1', '[2026-01-01,2026-02-01)', '{a,b}', '{"x": 1}');
"""
MANY = """
do $$ begin
  for n in 0..49 loop
    execute format('create table %I.%I (id int primary key, email text, amount numeric(12,2))',
        '{schema}', 'table_' || lpad(n::text, 2, '0'));
  end loop;
end $$
"""
PATIENCE = 90_000
"""Milliseconds that anything may take on a busy machine."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where pictures go."""
    parser.addoption("--screenshots", default="", help="folder for pictures of every step")


@pytest.fixture(scope="package")
def product() -> Iterator[Product]:
    """A running product with an owner and nothing in it."""
    with products.running() as running:
        yield running


@pytest.fixture(scope="package")
def shop(postgres: Postgres) -> Postgres:
    """An upstream with a shop, awkward types and names, and two thousand tables."""
    dsn = postgres.create_database("shop")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create type mood as enum ('sad', 'glad')")
        connection.execute(SHOP)
        for number in range(40):
            schema = f"many_{number:02}"
            connection.execute(f"create schema {schema}")
            connection.execute(MANY.format(schema=schema))
        connection.execute("analyze")
        connection.execute("create publication headrace for all tables")
    return postgres


@pytest.fixture(scope="package")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def open_page(chromium: Browser, product: Product) -> Callable[[str], Page]:
    """Makes signed-in pages in a theme; a page error or a forbidden script fails the test."""

    def make(theme: str) -> Page:
        context = chromium.new_context(
            viewport={"width": 1440, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
            base_url=product.url,
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: pytest.fail(f"page error: {error}"))
        page.goto("/sign-in")
        page.fill("[name=email]", product.email)
        page.fill("[name=password]", product.password)
        page.click("button.primary")
        expect(page.locator("nav.side")).to_be_visible()
        return page

    return make


@pytest.fixture(scope="package")
def picture(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Takes a picture when asked to."""
    folder = request.config.getoption("--screenshots", default="")

    def take(page: Page, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.wait_for_timeout(400)
            page.screenshot(path=Path(folder) / f"{name}.png")

    return take
