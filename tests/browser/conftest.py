"""The whole product, a bank upstream, and a signed-in Chromium.

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
BANK = """
create table pgbench_branches (bid int not null primary key, bbalance int, filler char(88));
create table pgbench_tellers (
    tid int not null primary key, bid int, tbalance int, filler char(84));
create table pgbench_accounts (
    aid int not null primary key, bid int, abalance int, filler char(84));
create table pgbench_history (
    tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
alter table pgbench_history replica identity full;
insert into pgbench_branches select n, 0 from generate_series(1, 1) n;
insert into pgbench_tellers select n, 1, 0 from generate_series(1, 10) n;
insert into pgbench_accounts select n, 1, 0 from generate_series(1, 20000) n;
"""
AWKWARD = """
create schema awkward;
create type awkward.mood as enum ('sad', 'glad');
create type awkward.place as (street text, zip int);
create table awkward."Odd ""Names"" & Co" ("Key" int primary key, "Größe" text, "select" bool);
create table awkward.pgbench_tellers (id int primary key, note text);
create table awkward.types (
    id uuid primary key, feeling awkward.mood, ip inet, span tstzrange, tags text[], doc jsonb,
    raw bytea, big numeric, at timestamptz, took interval, home awkward.place);
create table awkward.keyless (a int, b text);
alter table awkward.keyless replica identity full;
insert into awkward."Odd ""Names"" & Co" values (1, 'groß', true), (2, null, false);
insert into awkward.pgbench_tellers values (1, 'not the bank''s');
insert into awkward.types values ('00000000-0000-0000-0000-000000000001', 'glad', '10.0.0.1',
    '[2026-01-01,2026-02-01)', '{a,b}', '{"x": 1}', '\\xdead', 1e30, now(), '1 day', ('Mill', 7));
"""
MANY = """
do $$ begin
  for s in 0..39 loop
    execute format('create schema %I', 'many_' || lpad(s::text, 2, '0'));
    for n in 0..49 loop
      execute format('create table %I.%I (id int primary key, email text, amount numeric(12,2))',
          'many_' || lpad(s::text, 2, '0'), 'table_' || lpad(n::text, 2, '0'));
    end loop;
    commit;
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
def bank(postgres: Postgres) -> Postgres:
    """An upstream with pgbench's schema, awkward types and names, and two thousand tables."""
    dsn = postgres.create_database("bank")
    with psycopg.connect(dsn, autocommit=True) as connection:
        for text in (BANK, AWKWARD, MANY, "analyze", "create publication headrace for all tables"):
            connection.execute(text)
    return postgres


@pytest.fixture(scope="package")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        yield browser
        browser.close()


def sign_in(page: Page, product: Product) -> None:
    """Fill the sign-in page's form, with an app password."""
    page.fill("[name=email]", product.email)
    page.fill("[name=password]", product.password)
    page.click("button.primary")
    expect(page.locator("nav.side")).to_be_visible()


@pytest.fixture(scope="package")
def open_page(chromium: Browser, product: Product) -> Callable[[str], Page]:
    """Makes signed-in pages in a theme; a page error or a forbidden script fails the test."""

    def make(theme: str) -> Page:
        return signed_in_page(chromium, product, theme)

    return make


def signed_in_page(chromium: Browser, product: Product, theme: str) -> Page:
    """A signed-in page in a theme; a page error or a forbidden script fails the test."""
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
        base_url=product.url,
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: pytest.fail(f"page error: {error}"))
    page.goto("/sign-in")
    sign_in(page, product)
    return page


@pytest.fixture(scope="package")
def picture(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Takes a picture when asked to."""
    folder = request.config.getoption("--screenshots", default="")

    def take(page: Page, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.evaluate("document.fonts.ready")
            page.emulate_media(reduced_motion="reduce")
            page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")
            page.emulate_media(reduced_motion="no-preference")

    return take
