"""Pages of webhooks, and of sources in the older form."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client

from catalog import reads
from catalog.models import User
from catalog.webhooks.deliveries import Delivery, record
from tests.console.pages.conftest import run

pytestmark = pytest.mark.django_db


def _id(name: str) -> str:
    return next(item.id for item in reads.items() if item.name == name)


def test_made_in_the_form(browser: Client, owner: User) -> None:
    assert b"No webhooks yet" in browser.get("/webhooks").content
    run(owner, "CREATE SECRET \"my key\" AS 's3cret-value'")
    form = {"name": "hook", "format": "json", "header": "X-Sig", "encoding": "base64"}
    made = browser.post("/webhooks", {**form, "headers": "1", "secret": _id("my key")})
    assert made.status_code == 302, made.content
    page = browser.get(made["Location"]).content.decode()
    assert "/api/webhook/headrace/public/hook" in page
    assert "openssl dgst -sha256 -hmac" in page
    assert "Nothing has arrived yet" in page
    assert "s3cret-value" not in page
    listed = browser.get("/webhooks").content.decode()
    assert "/api/webhook/headrace/public/hook" in listed
    again = browser.post("/webhooks", form)
    assert b"already exists" in again.content
    assert browser.get(f"/sources/{_id('hook')}").status_code == 302
    assert b"filled by" in browser.get(f"/tables/{_id('hook')}").content


def test_deliveries(browser: Client, owner: User) -> None:
    run(owner, "CREATE TABLE hook FROM WEBHOOK BODY FORMAT TEXT")
    hook, now = _id("hook"), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    many = [Delivery(hook, now, 200, 7, 1) for _ in range(150)]
    record("local/embedded", [*many, Delivery(hook, now, 401, 9, reason="no <b>pass</b>")])
    record("local/embedded", [Delivery("u99", now, 200, 1)])
    shown = browser.get(f"/webhooks/{hook}/deliveries").content.decode()
    assert shown.count("<tr>") == 21
    assert "no &lt;b&gt;pass&lt;/b&gt;" in shown
    assert (
        "everybody who knows the URL can send" in browser.get(f"/webhooks/{hook}").content.decode()
    )
    assert browser.get("/webhooks/u99").status_code == 404
    dropped = browser.post(f"/items/{hook}/drop")
    assert dropped.status_code == 302
    assert reads.items() == ()


def test_sources_of_the_older_form(browser: Client, owner: User) -> None:
    run(owner, "ALTER SYSTEM SET force_source_table_syntax = off")
    run(owner, "CREATE SOURCE house FROM LOAD GENERATOR AUCTION FOR TABLES (bids)")
    run(owner, "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER")
    sources = browser.get("/sources").content.decode()
    assert "house" in sources
    assert "house_progress" not in sources
    assert browser.get(f"/sources/{_id('house')}").status_code == 200
    moved = browser.get(f"/sources/{_id('bids')}")
    assert moved["Location"] == f"/tables/{_id('bids')}"
    for name in ("bids", "counter"):
        assert browser.get(f"/tables/{_id(name)}").status_code == 200
    for path in ("/", "/tables", "/objects", "/palette"):
        assert browser.get(path).status_code == 200
    moved = browser.get(f"/sources/{_id('house_progress')}")
    assert moved["Location"] == f"/sources/{_id('house')}"
    assert browser.post(f"/items/{_id('bids')}/drop").status_code == 302
    assert browser.post(f"/items/{_id('house')}/drop").status_code == 302
    assert [item.name for item in reads.items()] == ["counter", "counter_progress"]
