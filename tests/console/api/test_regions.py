"""REST about one region of several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import Client

from catalog.migrate import rollout
from catalog.planes import plane_of
from catalog.session import Session, role_for
from catalog.webhooks.deliveries import latest
from console.api.webhook import Webhooks
from ingest.contract.plane import Plane
from tests.console.api.conftest import Caller
from tests.console.api.test_webhook import kept, post

OWN, OTHER = "local/embedded", "aws/us-east-1"
NAMES = "SELECT name FROM mz_secrets ORDER BY name"


@pytest.fixture
def ada(caller: Callable[..., Caller]) -> Caller:
    """An owner of two regions, each with a secret."""
    made = caller("ada@example.com", owner=True)
    assert made.call("put", "/api/region/aws/us-east-1", {})[0] == 201
    made.sql("CREATE SECRET own_secret AS 'x'")
    body = {"name": "other_secret", "value": "x"}
    assert made.call("post", f"/api/secrets?region={OTHER}", body)[0] == 201
    return made


def test_resources(ada: Caller) -> None:
    def names(answer: tuple[int, Any]) -> list[str]:
        return [row["name"] for row in answer[1]["items"]]

    assert names(ada.call("get", "/api/secrets")) == ["own_secret"]
    assert names(ada.call("get", f"/api/secrets?region={OTHER}")) == ["other_secret"]
    assert names(ada.call("get", "/api/secrets?region=aws:us-east-1")) == ["other_secret"]
    answer = ada.client.get("/api/secrets", headers={"Headrace-Region": OTHER})
    assert [row["name"] for row in answer.json()["items"]] == ["other_secret"]


def test_sql(ada: Caller) -> None:
    for path in ("/api/sql", "/query"):
        _, here = ada.call("post", path, {"query": NAMES})
        _, there = ada.call("post", f"{path}?region={OTHER}", {"query": NAMES})
        rows = [
            body[0] if isinstance(body, list) else body["results"][0] for body in (here, there)
        ]
        assert [row["rows"] for row in rows] == [[["own_secret"]], [["other_secret"]]]


def test_an_unknown_region(ada: Caller) -> None:
    for method, path in (("get", "/api/secrets"), ("post", "/api/sql"), ("post", "/query")):
        status, body = ada.call(method, f"{path}?region=aws/mars", {"query": "SELECT 1"})
        assert status == 404
        assert body["error"]["message"] == 'unknown region "aws/mars"'
        assert "/api/regions" in body["error"]["hint"]


def test_who_is_not_signed_in_cannot_try_names(ada: Caller) -> None:
    for region in (OTHER, "aws/mars"):
        assert Client().get(f"/api/secrets?region={region}").status_code == 401


@pytest.mark.django_db(transaction=True)
async def test_webhooks_of_one_name_in_two_regions(settings: Any, tmp_path: Path) -> None:
    settings.HEADRACE_PLANE = Plane("", str(tmp_path))

    def make() -> None:
        rollout.enable_region("aws", "us-east-1", "ada")
        for region in (OWN, OTHER):
            role = role_for(region, "ada@example.com", superuser=True)
            list(Session(role, region).execute("CREATE TABLE hook FROM WEBHOOK BODY FORMAT TEXT"))

    await database_sync_to_async(make)()
    app = Webhooks()
    name = "headrace/public/hook"
    assert (await post(app, name, b"here"))[0] == 200
    for asked in (OTHER, "aws:us-east-1"):
        assert (await post(app, f"{name}?region={asked}", b"there"))[0] == 200
    status, told = await post(app, f"{name}?region=aws/mars", b"x")
    assert (status, told["error"]["message"]) == (404, 'unknown region "aws/mars"')
    here = [one.rows for one in kept(plane_of(OWN))]
    there = [one.rows for one in kept(await database_sync_to_async(plane_of)(OTHER))]
    assert (here, there) == ([(("here",),)], [(("there",),)] * 2)
    while app._flushing is not None:
        await app._flushing
    noted = database_sync_to_async(latest)
    assert [len(await noted(region, "u1")) for region in (OWN, OTHER)] == [1, 2]
