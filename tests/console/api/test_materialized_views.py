"""Materialized views and replacements over REST, on a load generator."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import ViewProgress
from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db

QUERY = "SELECT auction_id, max(amount) AS highest FROM bids GROUP BY auction_id"


@pytest.fixture
def house(owner: Caller) -> Caller:
    """The owner, with a table `bids`."""
    owner.sql("CREATE SOURCE house FROM LOAD GENERATOR AUCTION")
    owner.sql("CREATE TABLE bids FROM SOURCE house (REFERENCE auction.bids)")
    return owner


def _created(caller: Caller, path: str, body: object) -> dict[str, Any]:
    status, answer = caller.call("post", path, body)
    assert status == 201, answer
    result: dict[str, Any] = answer
    return result


def _view(caller: Caller) -> dict[str, Any]:
    made = _created(caller, "/api/materialized-views", {"name": "top", "query": QUERY})
    view: dict[str, Any] = made["item"]
    return view


def test_a_view_from_creation_to_drop(house: Caller) -> None:
    body = {"name": "top", "query": QUERY, "refresh_every": "1 hour", "retain_history": "7 days"}
    made = _created(house, "/api/materialized-views", body)
    assert made["sql"].startswith(
        "CREATE MATERIALIZED VIEW headrace.public.top WITH "
        "(REFRESH = EVERY '1 hour', RETAIN HISTORY = FOR '7 days') AS SELECT auction_id"
    )
    assert made["tag"] == "CREATE MATERIALIZED VIEW"
    view = made["item"]
    assert [column["name"] for column in view["columns"]] == ["auction_id", "highest"]
    assert (view["hydrated"], view["sealed"], view["rows"]) == (False, False, -1)
    path = f"/api/materialized-views/{view['item']['id']}"
    assert house.call("get", path)[1]["item"]["name"] == "top"
    assert house.call("get", "/api/materialized-views")[1]["total"] == 1
    renamed = house.call("patch", path, {"name": "highest"})[1]
    assert renamed["sql"].endswith("RENAME TO highest")
    versions = house.call("get", path + "/versions")[1]["items"]
    assert [(one["number"], one["event"], one["undo"]) for one in versions] == [
        (1, "created", False)
    ]
    assert house.call("delete", path)[0] == 200
    assert house.call("get", path)[0] == 404


def test_a_query_must_be_one(house: Caller) -> None:
    for query in ("DROP TABLE bids", "SELECT 1 AS OF 5", "SELEC 1", "SELECT nope FROM bids"):
        status, answer = house.call(
            "post", "/api/materialized-views", {"name": "v", "query": query}
        )
        assert status == 422, query
        assert answer["error"]["message"]


def test_lineage_goes_through_columns(house: Caller) -> None:
    view = _view(house)
    house.sql("CREATE VIEW dear AS SELECT highest FROM top WHERE highest > 10")
    path = f"/api/materialized-views/{view['item']['id']}/lineage"
    found = house.call("get", path)[1]
    distances = {one["item"]["name"]: one["distance"] for one in found["items"]}
    assert distances == {"house": -2, "bids": -1, "top": 0, "dear": 1}
    bids = next(one["item"]["id"] for one in found["items"] if one["item"]["name"] == "bids")
    around = house.call("get", f"/api/lineage/{bids}")[1]
    assert len(around["items"]) == len(found["items"])
    assert house.call("get", "/api/lineage/u99")[0] == 404
    names = {one["item"]["id"]: one["item"]["name"] for one in found["items"]}
    edges = {
        (f"{names[e['item']]}.{e['column']}", f"{names[e['into']]}.{e['into_column']}")
        for e in found["columns"]
    }
    assert edges == {
        ("bids.auction_id", "top.auction_id"),
        ("bids.amount", "top.highest"),
        ("top.highest", "dear.highest"),
    }


def test_a_replacement_from_creation_to_drop(house: Caller) -> None:
    view = _view(house)
    guard = {"automatic": True, "max_rows": 10, "max_percent": 2.5, "window": "22:00-04:00"}
    body = {
        "name": "top_next",
        "target": {"id": view["item"]["id"]},
        "query": QUERY.replace("max(", "min("),
        "guard": guard,
    }
    made = _created(house, "/api/replacements", body)
    assert "FOR headrace.public.top WITH (APPLY WHEN HYDRATED = true, MAX ROWS = 10" in made["sql"]
    row = made["item"]
    assert row["target"]["name"] == "top"
    assert row["guard"] == guard
    assert row["staged"] is None
    path = f"/api/replacements/{row['item']['id']}"
    assert house.call("get", "/api/materialized-views")[1]["total"] == 1
    listed = house.call("get", f"/api/replacements?target={view['item']['id']}")[1]
    assert [one["item"]["name"] for one in listed["items"]] == ["top_next"]
    assert house.call("get", "/api/replacements?target=u99")[1]["total"] == 0
    changed = house.call("put", path + "/guard", {"automatic": False})[1]
    assert changed["sql"] == "ALTER MATERIALIZED VIEW headrace.public.top_next SET ()"
    assert changed["item"]["guard"]["automatic"] is False
    assert house.call("put", path + "/guard", {"max_rows": 5})[0] == 422
    status, refused = house.call("post", path + "/apply")
    assert (status, refused["error"]["code"]) == (422, "55000")
    assert "not hydrated" in refused["error"]["message"]
    dropped = house.call("delete", path)[1]
    assert dropped["tag"] == "DROP REPLACEMENT"
    assert house.call("get", path)[0] == 404


def test_columns_that_do_not_fit_are_told(house: Caller) -> None:
    view = _view(house)
    body = {
        "name": "r",
        "target": {"id": view["item"]["id"]},
        "query": "SELECT auction_id FROM bids",
    }
    status, answer = house.call("post", "/api/replacements", body)
    assert status == 422
    assert answer["error"]["message"] == "replacement schema differs from target schema"
    assert 'missing column "highest" at position 2' in answer["error"]["detail"]


def test_staged_counts_are_shown(house: Caller) -> None:
    view = _view(house)
    body = {"name": "r", "target": {"id": view["item"]["id"]}, "query": QUERY}
    row = _created(house, "/api/replacements", body)["item"]
    ViewProgress.objects.filter(item__name="r").update(
        hydrated=True,
        staged_added=1,
        staged_removed=2,
        staged_changed=3,
        staged_bytes=44,
        staged_as_of=5000,
    )
    found = house.call("get", f"/api/replacements/{row['item']['id']}")[1]
    assert found["staged"] == {"added": 1, "removed": 2, "changed": 3, "bytes": 44, "as_of": 5000}


def test_only_its_owner_stops_a_hydration(house: Caller, member: Caller) -> None:
    path = f"/api/materialized-views/{_view(house)['item']['id']}/hydration"
    assert member.call("post", path + "/cancel")[0] == 403
    assert house.call("post", path + "/cancel")[1] == {"done": True}
    assert house.call("post", path + "/cancel")[1] == {"done": False}
    assert ViewProgress.objects.get().cancelled
    assert house.call("post", path + "/resume")[1] == {"done": True}
    assert not ViewProgress.objects.get().cancelled


def test_nothing_to_take_back(house: Caller) -> None:
    path = f"/api/materialized-views/{_view(house)['item']['id']}/rollback"
    status, answer = house.call("post", path)
    assert status == 422
    assert "no applied replacement" in answer["error"]["message"]


def test_one_kind_is_not_the_other(house: Caller) -> None:
    view = _view(house)["item"]["id"]
    assert house.call("get", f"/api/replacements/{view}")[0] == 404
    assert house.call("get", "/api/materialized-views/u1")[0] == 404
