"""The SQL websockets: who is let in, and what is said, without Spark."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.core.cache import cache
from django.test import Client, override_settings

from catalog import accounts
from catalog.subscribing import follower
from console.asgi import application

EMAIL = "ada@example.com"
SQL = "/api/experimental/sql"
Frames = list[tuple[str, Any]]


@pytest.fixture
def password(transactional_db: None) -> Iterator[str]:
    """The owner's app-specific password."""
    cache.clear()
    user = accounts.create_user(EMAIL, owner=True)
    yield accounts.create_token(user, "tests").app_password
    for found in follower.followers():
        found.stop()


def basic(password: str) -> tuple[bytes, bytes]:
    return b"authorization", b"Basic " + b64encode(f"{EMAIL}:{password}".encode())


_Communicator: Any = ApplicationCommunicator


class Line(_Communicator):  # type: ignore[misc]  # asgiref has no types
    """A websocket to the application, without a network."""

    def __init__(self, path: str, *headers: tuple[bytes, bytes]) -> None:
        where, _, query = path.partition("?")
        scope = {
            "type": "websocket",
            "path": where,
            "query_string": query.encode(),
            "headers": [(b"host", b"testserver"), *headers],
            "client": ("127.0.0.1", 1),
        }
        super().__init__(application, scope)

    async def connects(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        event = await self.receive_output(timeout=20)
        return bool(event["type"] == "websocket.accept")

    async def send(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def hears(self) -> Any:
        event = await self.receive_output(timeout=20)
        assert event["type"] == "websocket.send", event
        return json.loads(event["text"])

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1005})
        await self.wait(20)


@asynccontextmanager
async def opened(path: str, *headers: tuple[bytes, bytes]) -> AsyncIterator[Line]:
    line = Line(path, *headers)
    assert await line.connects()
    try:
        yield line
    finally:
        await line.leave()


async def refused(path: str, *headers: tuple[bytes, bytes]) -> None:
    assert not await Line(path, *headers).connects()


async def said(line: Line) -> Frames:
    """Frames up to the next ReadyForQuery."""
    found: Frames = []
    while not found or found[-1][0] != "ReadyForQuery":
        frame = await line.hears()
        found.append((frame["type"], frame["payload"]))
    return found


async def ask(line: Line, **body: Any) -> Frames:
    await line.send(json.dumps(body))
    return await said(line)


async def closed(line: Line) -> int:
    while True:
        event = await line.receive_output(timeout=20)
        if event["type"] == "websocket.close":
            return int(event["code"])


async def test_the_conversation(password: str) -> None:
    async with opened(SQL) as line:
        first = await ask(line, user=EMAIL, password=password, options={"application_name": "me"})
        assert [kind for kind, _ in first[-2:]] == ["BackendKeyData", "ReadyForQuery"]
        status = {p["name"]: p["value"] for kind, p in first if kind == "ParameterStatus"}
        assert status["application_name"] == "me"
        assert status["server_version"] == "15.0"
        assert await ask(line, query="SELECT 1 AS one, NULL AS nothing") == [
            ("CommandStarting", {"has_rows": True, "is_streaming": False}),
            (
                "Rows",
                {
                    "columns": [
                        {"name": "one", "type_oid": 23, "type_len": 4, "type_mod": -1},
                        {"name": "nothing", "type_oid": 25, "type_len": -1, "type_mod": -1},
                    ]
                },
            ),
            ("Row", ["1", None]),
            ("CommandComplete", "SELECT 1"),
            ("ReadyForQuery", "I"),
        ]
        found = await ask(line, queries=[{"query": "SELECT $1 AS n", "params": ["42"]}])
        assert ("Row", ["42"]) in found
        assert (await ask(line, query="BEGIN"))[-1] == ("ReadyForQuery", "T")
        failed = await ask(line, query="SELECT 1;\nSELECT * FROM nowhere")
        kind, error = failed[-2]
        assert kind == "Error"
        assert (error["code"], error["line"], error["column"]) == ("42P01", 2, 15)
        assert failed[-1] == ("ReadyForQuery", "E")
        assert (await ask(line, query="ROLLBACK"))[-1] == ("ReadyForQuery", "I")
        told = await ask(line, query="SET application_name = 'other'")
        assert ("ParameterStatus", {"name": "application_name", "value": "other"}) in told
        assert (await ask(line, nothing=1))[0][1]["code"] == "08P01"
        await line.send("no json")
        assert (await said(line))[0][1]["message"] == "a message must be a JSON object"


async def test_a_stream_that_cannot_change_ends(password: str) -> None:
    async with opened(SQL) as line:
        await ask(line, token=password)
        found = await ask(line, query="SUBSCRIBE (SELECT 1 AS a) WITH (PROGRESS)")
        assert found[0] == ("CommandStarting", {"has_rows": True, "is_streaming": True})
        names = [column["name"] for column in found[1][1]["columns"]]
        assert names == ["mz_timestamp", "mz_progressed", "mz_diff", "a"]
        rows = [payload for kind, payload in found if kind == "Row"]
        start = int(rows[0][0])
        assert rows == [
            [str(start), True, None, None],
            [str(start), False, "1", "1"],
            [str(start + 1), True, None, None],
        ]
        assert found[-2:] == [("CommandComplete", "SUBSCRIBE"), ("ReadyForQuery", "I")]


async def test_one_text_over_query(password: str) -> None:
    path = "/query?query=SUBSCRIBE%20(SELECT%201%20AS%20a)"
    async with opened(path, basic(password)) as line:
        heads = await line.hears()
        assert [c["name"] for c in heads["desc"]["columns"]][1:] == ["mz_diff", "a"]
        rows = (await line.hears())["rows"]
        assert [row[1:] for row in rows] == [["1", "1"]]
        assert (await line.hears()) == {"tag": "SUBSCRIBE"}
        assert await closed(line) == 1000
    async with opened("/query?query=SELECT%20*%20FROM%20nope", basic(password)) as line:
        assert (await line.hears())["error"]["position"] == 15


async def test_who_is_not_let_in(password: str) -> None:
    await refused("/query?query=SELECT%201")
    await refused("/query?query=SELECT%201", basic("wrong"))
    await refused(SQL, (b"origin", b"http://elsewhere.example"))
    await refused("/query?query=SELECT%201", basic(password), (b"origin", b"http://testserver:1"))
    async with opened(SQL) as line:
        await line.send(json.dumps({"user": EMAIL, "password": "wrong"}))
        error = await line.hears()
        assert (error["type"], error["payload"]["code"]) == ("Error", "28P01")
        assert await closed(line) == 1008
    async with opened(SQL) as line:
        await line.send("{}")
        assert (await line.hears())["payload"]["code"] == "28P01"


def _cookie() -> tuple[bytes, bytes]:
    client = Client()
    user = accounts.user_by_email(EMAIL)
    assert user is not None
    client.force_login(user)
    return b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()


async def test_a_session_counts_for_the_consoles_own_pages_only(password: str) -> None:
    cookie = await sync_to_async(_cookie)()
    own = (b"origin", b"http://testserver")
    async with opened(SQL, cookie, own) as line:
        await ask(line)
        assert ("Row", ["1"]) in await ask(line, query="SELECT 1")
    async with opened(SQL, cookie) as line:
        await line.send("{}")
        assert (await line.hears())["type"] == "Error"
    await refused(SQL, cookie, (b"origin", b"http://testserver.evil.example"))


async def test_a_client_that_sends_too_much(password: str) -> None:
    with override_settings(HEADRACE_BODY_LIMIT=100):
        async with opened(SQL) as line:
            await line.send("x" * 101)
            assert await closed(line) == 1009


async def test_a_password_that_is_revoked_ends_it(password: str) -> None:
    async with opened(SQL) as line:
        await ask(line, token=password)
        await sync_to_async(_revoke)()
        await line.send(json.dumps({"query": "SELECT 1"}))
        assert (await line.hears())["payload"]["message"] == "signed out"
        assert await closed(line) == 1008


def _revoke() -> None:
    user = accounts.user_by_email(EMAIL)
    assert user is not None
    accounts.revoke_token(user, accounts.tokens(user)[0].client_id)


async def test_built_in_relations_are_followed_until_the_client_leaves(password: str) -> None:
    async with opened(SQL) as reader, opened(SQL) as writer:
        await ask(reader, token=password)
        await ask(writer, token=password)
        await writer_says(writer, "CREATE SECRET old AS 'x'")
        await reader.send(json.dumps({"query": "SUBSCRIBE (SELECT name FROM mz_secrets)"}))
        assert await rows(reader, 1) == [["1", "old"]]
        await writer_says(writer, "CREATE SECRET new AS 'x'; DROP SECRET old")
        assert sorted(await rows(reader, 2)) == [["-1", "old"], ["1", "new"]]
        asked = "SELECT role, object, rows_told, readers FROM mz_internal.mz_subscriptions"
        told = await until(writer, asked, lambda found: bool(found) and found[0][2] == "3")
        assert told == [[EMAIL, "SELECT name FROM mz_secrets", "3", "1"]]
        await reader.leave()
        assert await until(writer, asked, lambda found: not found) == []


async def writer_says(line: Line, sql: str) -> None:
    assert not [said for said in await ask(line, query=sql) if said[0] == "Error"]


async def rows(line: Line, count: int) -> list[list[Any]]:
    """The next rows, without their times."""
    found: list[list[Any]] = []
    while len(found) < count:
        frame = await line.hears()
        if frame["type"] == "Row":
            found.append(frame["payload"][1:])
    return found


async def until(line: Line, sql: str, right: Callable[[list[Any]], bool]) -> list[Any]:
    """Ask again until the rows are right, or 20 seconds have passed."""
    found: list[Any] = []
    for _ in range(80):
        found = [payload for kind, payload in await ask(line, query=sql) if kind == "Row"]
        if right(found):
            break
        await asyncio.sleep(0.25)
    return found
