"""The switcher in Chromium: another region in a click, and forms that stay with their page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from catalog.migrate import rollout
from catalog.models import Item, User
from console import execute
from tests.console.pages.test_axe import _faults, page

__all__ = ["page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OWN, OTHER = "local/embedded", "aws/us-east-1"


@pytest.fixture
def two(owner: User) -> None:
    """Two regions, a secret in each."""
    rollout.enable_region("aws", "us-east-1", owner.email)
    for region, name in ((OWN, "own_secret"), (OTHER, "other_secret")):
        list(execute.open_session(owner, region).execute(f"CREATE SECRET {name} AS 'x'"))


def test_switching(page: Page, two: None) -> None:
    page.goto("/secrets")
    expect(page.get_by_role("row", name="own_secret")).to_be_visible()
    page.locator(".regions summary", has_text=OWN).click()
    page.get_by_role("button", name=OTHER).click()
    expect(page.get_by_role("row", name="other_secret")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-region", OTHER)
    assert page.url.endswith("/secrets")


def test_a_form_stays_with_its_page(page: Page, two: None) -> None:
    page.goto("/secrets?new=1")
    other = page.context.new_page()
    other.goto("/")
    other.locator(".regions summary").click()
    other.get_by_role("button", name=OTHER).click()
    expect(other.locator("html")).to_have_attribute("data-region", OTHER)
    page.get_by_label("Name").fill("late")
    page.get_by_label("Value").first.fill("x")
    page.get_by_role("button", name="Create secret").click()
    expect(page.get_by_role("row", name="late")).to_be_visible()
    assert Item.objects.get(name="late").region.name == OWN


def test_a_shell_stays_with_its_page(page: Page, two: None) -> None:
    page.goto(f"/shell?region={OTHER}&sql=SELECT name FROM mz_secrets")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("other_secret").last).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_for_axe(page: Page, two: None, theme: str) -> None:
    page.emulate_media(color_scheme="light" if theme == "light" else "dark")
    assert _faults(page, "/secrets") == []
    page.locator(".regions summary").click()
    assert _faults(page, "/secrets") == []
