"""Websockets about one region of several."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async

from catalog.migrate import rollout
from console.live import frames
from tests.console.live.test_sql_socket import EMAIL, ask, basic, closed, opened, password, said

__all__ = ["password"]
OTHER = "aws/us-east-1"
NAMES = "SELECT name FROM mz_secrets"


def rows(found: Any) -> list[Any]:
    return [payload for kind, payload in found if kind == "Row"]


def test_a_first_message_names_the_region() -> None:
    assert frames.region_of({}) == ""
    assert frames.region_of({"region": OTHER}) == OTHER
    with pytest.raises(frames.BadFrame):
        frames.region_of({"region": 7})


async def test_by_address_and_by_message(password: str) -> None:
    await database_sync_to_async(rollout.enable_region)("aws", "us-east-1", EMAIL)
    path = "/api/experimental/sql"
    who = basic(password)
    async with (
        opened(path, who) as here,
        opened(f"{path}?region={OTHER}", who) as by_address,
        opened(path, who) as by_message,
    ):
        await here.send("{}")
        await by_address.send("{}")
        await by_message.send(f'{{"region": "{OTHER}"}}')
        for line in (here, by_address, by_message):
            await said(line)
        await ask(here, query="CREATE SECRET own_secret AS 'x'")
        await ask(by_address, query="CREATE SECRET other_secret AS 'x'")
        assert rows(await ask(here, query=NAMES)) == [["own_secret"]]
        assert rows(await ask(by_message, query=NAMES)) == [["other_secret"]]


async def test_one_text_over_query(password: str) -> None:
    await database_sync_to_async(rollout.enable_region)("aws", "us-east-1", EMAIL)
    async with opened(f"/query?query=SELECT%201&region={OTHER}", basic(password)) as line:
        assert "desc" in await line.hears()


async def test_an_unknown_region(password: str) -> None:
    async with opened("/api/experimental/sql?region=aws/mars", basic(password)) as line:
        await line.send("{}")
        told = await line.hears()
        assert (told["type"], told["payload"]["message"]) == (
            "Error",
            'unknown region "aws/mars"',
        )
        assert await closed(line) == 1008
    async with opened("/query?query=SELECT%201&region=aws/mars", basic(password)) as line:
        assert (await line.hears())["error"]["message"] == 'unknown region "aws/mars"'
