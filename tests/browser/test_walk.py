"""From an empty console to live tables, in a real browser, against a real PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import sign_in
from tests.services.postgres import Postgres
from tests.services.product import Product

pytestmark = [pytest.mark.browser, pytest.mark.postgres, pytest.mark.spark]
Picture = Callable[[Page, str], None]
LONG = 240_000
"""Milliseconds for a first snapshot on a busy machine."""


@pytest.fixture(scope="module")
def page(open_page: Callable[[str], Page]) -> Iterator[Page]:
    """One page for the whole walk."""
    opened = open_page("light")
    yield opened
    opened.context.close()


def _live(page: Page) -> None:
    expect(page.locator("#live-pill")).to_have_attribute("data-state", "on")


def test_the_walk_to_live_tables(page: Page, bank: Postgres, picture: Picture) -> None:
    page.goto("/")
    expect(page.get_by_text("Bring in your first tables")).to_be_visible()
    picture(page, "01-empty-console")
    page.get_by_role("button", name="PostgreSQL", exact=True).click()
    _connect(page, bank, picture)
    _name_the_source(page, picture)
    _choose(page, picture)
    _resume(page)
    _create(page, picture)


def _connect(page: Page, bank: Postgres, picture: Picture) -> None:
    values = {
        "name": "bank_pg",
        "host": bank.host,
        "port": "1",
        "database": "bank",
        "user": bank.user,
        "password": "wrong",
    }
    for name, value in values.items():
        page.fill(f"#new-connection [name={name}]", value)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".checks .error")).to_contain_text("Reachable")
    page.fill("#new-connection [name=port]", str(bank.port))
    page.fill("#new-connection [name=password]", "wrong again")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".checks .error")).to_contain_text("password authentication failed")
    picture(page, "02-wrong-password")
    page.fill("#new-connection [name=password]", bank.password)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".foot")).to_contain_text("Continue")
    picture(page, "03-checked")
    page.locator(".foot .primary").click()


def _name_the_source(page: Page, picture: Picture) -> None:
    expect(page.locator("[name=publication][value=headrace]")).to_be_checked()
    picture(page, "04-source")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#h1")).to_have_text("Choose tables")


def _choose(page: Page, picture: Picture) -> None:
    expect(page.locator(".intro")).to_contain_text("2,008")
    picture(page, "05-two-thousand-tables")
    page.keyboard.press("/")
    page.keyboard.type("public.pgbench")
    expect(page.locator("#selbar")).to_contain_text("Select all 4 matching")
    page.locator("[data-all]").click()
    expect(page.locator("#foot")).to_contain_text("4 tables")
    page.fill("#q", "awkward.")
    expect(page.locator("#tree")).to_contain_text('Odd "Names" & Co')
    expect(page.locator("#selbar")).to_contain_text("Select all 4 matching")
    page.locator("[data-all]").click()
    expect(page.locator("#foot")).to_contain_text("Decide 1 table")
    page.locator("button.tag.warn[data-cols]").first.click()
    waiting = page.locator(".col.todo")
    expect(waiting).to_contain_text("home")
    picture(page, "06-a-type-to-decide")
    waiting.locator("label", has_text="Text").click()
    expect(waiting).to_have_count(0)
    expect(page.locator("#foot")).to_contain_text("tables")
    page.locator("#foot .primary").click()
    expect(page.locator(".sql code")).to_contain_text("CREATE TABLE")


def _resume(page: Page) -> None:
    """The draft outlives the browser's tab: it is found again on the overview."""
    page.goto("/")
    page.get_by_role("link", name="Continue").click()
    expect(page.locator("#foot")).to_contain_text("tables")
    page.locator("#foot .primary").click()


def _create(page: Page, picture: Picture) -> None:
    shown = page.locator(".sql code")
    expect(shown).to_contain_text("CREATE TABLE pgbench_accounts")
    expect(shown).to_contain_text("CREATE TABLE awkward_pgbench_tellers")
    picture(page, "07-review")
    page.locator(".foot .primary").dblclick()
    page.wait_for_url(re.compile(r"/sources/u\d+$"))
    _live(page)
    picture(page, "08-progress")
    count = page.locator("#source-count")
    expect(count).to_contain_text("8 live", timeout=LONG)
    picture(page, "09-live")
    page.go_back()
    page.wait_for_url(re.compile(r"/sources/u\d+$"))


def test_the_rows_change_before_your_eyes(page: Page, bank: Postgres, picture: Picture) -> None:
    page.goto("/tables?q=pgbench_tellers")
    page.get_by_role("link", name="pgbench_tellers", exact=True).click()
    _live(page)
    preview = page.locator("#preview")
    expect(preview.locator("tbody tr")).to_have_count(10)
    with psycopg.connect(bank.dsn_of("bank"), autocommit=True) as connection:
        connection.execute("update pgbench_tellers set tbalance = 4242 where tid = 3")
        connection.execute("insert into pgbench_tellers values (99, 1, 0, null)")
    expect(preview).to_contain_text("4242")
    expect(preview.locator("tbody tr").first).to_contain_text("99")
    expect(preview.locator("td.null").first).to_have_text("NULL")
    picture(page, "10-table")


def test_a_cut_line_is_admitted_and_healed(page: Page) -> None:
    lines: list[WebSocketRoute] = []
    cut = False

    def line(socket: WebSocketRoute) -> None:
        lines.append(socket)
        if cut:
            socket.close(code=1001)
        else:
            socket.connect_to_server()

    page.route_web_socket(re.compile("/ws/live"), line)
    page.goto("/sources")
    _live(page)
    cut = True
    lines[-1].close(code=1001)
    expect(page.locator("#live-pill")).to_have_text("Reconnecting…")
    expect(page.get_by_role("link", name="bank", exact=True)).to_be_visible()
    cut = False
    _live(page)
    page.unroute_all()


def test_the_shell(page: Page, picture: Picture) -> None:
    page.goto("/shell")
    page.locator("sql-editor .cm-content").click()
    page.keyboard.type(
        "SELECT aid, filler FROM pgbench_accounts LIMIT 1500; SHOW SOURCES; SELECT * FROM nowhere"
    )
    page.keyboard.press("Control+Enter")
    results = page.locator("#results .result")
    expect(results).to_have_count(3)
    expect(results.nth(0).locator("tbody tr")).to_have_count(1000)
    expect(results.nth(0)).to_contain_text("1,500 rows")
    expect(results.nth(2)).to_contain_text("LINE 1")
    expect(page.locator("sql-editor .mark-error")).to_have_text("nowhere")
    page.locator("sql-editor .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT count(*) AS accounts, sum(abalance) AS total FROM pgbench_accounts")
    page.keyboard.press("Control+Enter")
    expect(results).to_have_count(1)
    expect(results).to_contain_text("20000")
    picture(page, "11-shell")
    page.get_by_role("button", name="History").click()
    expect(page.locator("#history .hist button")).to_have_count(2)
    page.keyboard.press("Escape")


def test_dropping_says_what_goes(page: Page, picture: Picture) -> None:
    page.goto("/tables?q=keyless")
    page.get_by_role("link", name="keyless", exact=True).click()
    page.get_by_role("button", name="Rename").click()
    page.fill("#rename [name=name]", "Key less")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_have_text("Key less")
    page.get_by_role("button", name="Drop").click()
    expect(page.locator("#drop")).to_contain_text('DROP TABLE "Key less"')
    page.locator("#drop button.danger").click()
    page.wait_for_url(re.compile("/tables$"))
    expect(page.locator("#toasts")).to_contain_text("Dropped table Key less")
    page.goto("/sources")
    page.get_by_role("link", name="bank", exact=True).click()
    page.get_by_role("button", name="Drop").click()
    expect(page.locator("#drop")).to_contain_text("is dropped upstream")
    picture(page, "12-drop")
    page.get_by_role("button", name="Keep it").click()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_overview(theme: str, open_page: Callable[[str], Page], picture: Picture) -> None:
    opened = open_page(theme)
    opened.goto("/")
    _live(opened)
    picture(opened, f"13-overview-{theme}")
    opened.context.close()


def test_a_session_that_ends(page: Page, product: Product) -> None:
    page.goto("/tables")
    _live(page)
    page.context.clear_cookies()
    page.get_by_role("link", name="Connections").click()
    page.wait_for_url(re.compile("/sign-in"))
    sign_in(page, product)
    expect(page).to_have_url(re.compile("/connections$"))
