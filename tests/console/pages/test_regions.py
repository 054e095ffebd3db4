"""Pages of several regions: the switcher, and what a page of another region does."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.migrate import rollout
from catalog.models import Item, User
from console import execute

OWN, OTHER = "local/embedded", "aws/us-east-1"


@pytest.fixture
def two(owner: User) -> None:
    """Another region, with a secret of the same id as one here."""
    rollout.enable_region("aws", "us-east-1", owner.email)
    for region, name in ((OWN, "own_secret"), (OTHER, "other_secret")):
        session = execute.open_session(owner, region)
        list(session.execute(f"CREATE SECRET {name} AS 'x'"))


def test_one_region_has_no_switcher(browser: Client) -> None:
    page = browser.get("/").content.decode()
    assert "local / embedded" in page
    assert 'action="/region"' not in page
    assert "data-region" not in page


def test_switching(browser: Client, two: None) -> None:
    page = browser.get("/secrets").content.decode()
    assert "own_secret" in page
    assert "other_secret" not in page
    assert f'data-region="{OWN}"' in page
    answer = browser.post("/region", {"region": OTHER, "next": "/secrets"})
    assert (answer.status_code, answer["Location"]) == (302, "/secrets")
    page = browser.get("/secrets").content.decode()
    assert "other_secret" in page
    assert "own_secret" not in page
    assert f'"Headrace-Region": "{OTHER}"' in page


def test_only_known_places_and_regions(browser: Client, two: None) -> None:
    answer = browser.post("/region", {"region": OTHER, "next": "https://elsewhere"})
    assert answer["Location"] == "/"
    assert browser.post("/region", {"region": "aws/mars"}).status_code == 404
    assert "other_secret" in browser.get("/secrets").content.decode()
    assert browser.get("/region").status_code == 405
    assert Client().post("/region", {"region": OTHER}).status_code == 302


def test_an_address_may_name_the_region_for_itself(browser: Client, two: None) -> None:
    assert "other_secret" in browser.get(f"/secrets?region={OTHER}").content.decode()
    assert "own_secret" in browser.get("/secrets").content.decode()
    assert browser.get("/secrets?region=aws/mars").status_code == 404
    assert browser.get("/account?region=aws/mars").status_code == 200


def test_a_form_belongs_to_the_region_of_its_page(browser: Client, two: None) -> None:
    browser.post("/region", {"region": OTHER})
    item = Item.objects.get(name="own_secret")
    assert item.gid == Item.objects.get(name="other_secret").gid
    browser.post(f"/items/{item.gid}/drop?region={OWN}")
    assert not Item.objects.filter(name="own_secret").exists()
    assert Item.objects.filter(name="other_secret").exists()
    assert f'data-region="{OWN}"' in browser.get("/secrets").content.decode()


def test_parts_of_a_page_belong_to_its_region(browser: Client, two: None) -> None:
    body = {"sql": "SELECT name FROM mz_secrets"}
    answer = browser.post("/shell/run", body, headers={"Headrace-Region": OTHER})
    assert "other_secret" in answer.content.decode()
    assert "own_secret" in browser.post("/shell/run", body).content.decode()


def test_sign_in_comes_before_regions(two: None) -> None:
    answer = Client().get("/secrets?region=aws/mars")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in")
