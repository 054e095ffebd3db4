"""The API's page in a browser: everything from here, and nothing that its policy refuses."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_page_shows_the_operations(live_server: Any, chromium_path: str) -> None:
    said: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{live_server.url}/api/docs")
        expect(page.get_by_text("Make a table: CREATE TABLE").first).to_be_visible(timeout=20_000)
        expect(page.get_by_text("/api/tables/batch").first).to_be_visible()
        browser.close()
    assert not [text for text in said if "Content Security Policy" in text or "rror" in text]
    assert not [url for url in asked if not url.startswith((live_server.url, "data:"))]
