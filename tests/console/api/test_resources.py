"""Connections, secrets, sources, tables and views over REST, on a load generator."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.contract.plane import Plane
from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db

AUCTION = {
    "name": "house",
    "type": "load generator",
    "generator": "auction",
    "options": {"TICK INTERVAL": "1s"},
}
BIDS = {
    "name": "bids",
    "source": {"name": "house"},
    "reference": {"namespace": "auction", "name": "bids"},
}


def _created(caller: Caller, path: str, body: object) -> dict[str, Any]:
    status, answer = caller.call("post", path, body)
    assert status == 201, answer
    result: dict[str, Any] = answer
    return result


def test_a_source_from_creation_to_drop(owner: Caller) -> None:
    made = _created(owner, "/api/sources", AUCTION)
    assert made["sql"] == (
        "CREATE SOURCE headrace.public.house FROM LOAD GENERATOR AUCTION (TICK INTERVAL = '1s')"
    )
    assert made["tag"] == "CREATE SOURCE"
    source = made["item"]
    path = f"/api/sources/{source['item']['id']}"
    assert owner.call("get", path)[1]["item"]["name"] == "house"
    renamed = owner.call("patch", path, {"name": "auction house"})[1]
    assert renamed["sql"].endswith('RENAME TO "auction house"')
    assert owner.call("get", path)[1]["item"]["name"] == "auction house"
    assert owner.call("get", path + "/progress")[0] == 200
    assert owner.call("delete", path)[0] == 200
    assert owner.call("get", path)[0] == 404
    assert owner.call("delete", path)[0] == 404
    assert owner.call("delete", path + "?if_exists=true")[0] == 200


def test_references_are_listed_searched_paged_and_refreshed(owner: Caller) -> None:
    made = _created(owner, "/api/sources", AUCTION)
    path = f"/api/sources/{made['item']['item']['id']}/references"
    status, page = owner.call("get", path)
    assert status == 200
    names = [row["name"] for row in page["items"]]
    assert {"auctions", "bids"} <= set(names)
    assert page["total"] == len(names)
    assert [column["name"] for column in page["items"][0]["columns"]]
    found = owner.call("get", path + "?search=auction+bids")[1]
    assert [row["name"] for row in found["items"]] == ["bids"]
    second = owner.call("get", path + "?limit=1&offset=1")[1]
    assert [row["name"] for row in second["items"]] == names[1:2]
    assert owner.call("get", path + "?limit=0")[0] == 422
    refreshed = owner.call("post", path)[1]
    assert refreshed["sql"] == "ALTER SOURCE headrace.public.house REFRESH REFERENCES"


def test_a_table_from_a_source(owner: Caller) -> None:
    source = _created(owner, "/api/sources", AUCTION)["item"]["item"]
    made = _created(owner, "/api/tables", BIDS)
    assert made["sql"] == (
        "CREATE TABLE headrace.public.bids FROM SOURCE headrace.public.house "
        "(REFERENCE = auction.bids)"
    )
    table = made["item"]
    assert table["source"]["id"] == source["id"]
    assert (table["namespace"], table["reference"]) == ("auction", "bids")
    assert table["columns"]
    assert owner.call("get", f"/api/tables/{table['item']['id']}")[0] == 200
    status, refused = owner.call("delete", f"/api/sources/{source['id']}")
    assert status == 409
    assert refused["error"]["code"] == "2BP01"
    assert owner.call("delete", f"/api/sources/{source['id']}?cascade=true")[0] == 200
    assert owner.call("get", f"/api/tables/{table['item']['id']}")[0] == 404


def test_tables_in_one_transaction(owner: Caller) -> None:
    _created(owner, "/api/sources", AUCTION)
    other = BIDS | {"name": "auctions", "reference": {"namespace": "auction", "name": "auctions"}}
    status, refused = owner.call("post", "/api/tables/batch", {"tables": [BIDS, other, BIDS]})
    assert status == 409, refused
    assert owner.call("get", "/api/tables")[1]["total"] == 0
    made = _created(owner, "/api/tables/batch", {"tables": [BIDS, other]})
    assert made["tags"][0] == "BEGIN"
    assert [table["item"]["name"] for table in made["items"]] == ["bids", "auctions"]


@pytest.mark.spark
def test_a_plain_table(owner: Caller, plane: Plane, settings: Any) -> None:
    settings.HEADRACE_PLANE = plane
    body = {
        "name": "limits",
        "columns": [
            {"name": "id", "type": "int", "primary_key": True},
            {"name": "Note", "type": "varchar(10)", "default": "it's"},
            {"name": "most", "type": "numeric(12,2)", "nullable": False, "default": -1.5},
        ],
    }
    made = _created(owner, "/api/tables", body)
    columns = [(c["name"], c["type"], c["nullable"]) for c in made["item"]["columns"]]
    assert columns == [
        ("id", "integer", False),
        ("Note", "character varying(10)", True),
        ("most", "numeric(12,2)", False),
    ]
    assert made["item"]["source"] is None
    assert "DEFAULT 'it''s'" in made["sql"]


def test_secrets_are_written_and_never_read(owner: Caller) -> None:
    canary = "canary-4711"
    made = _created(owner, "/api/secrets", {"name": "password", "value": canary})
    path = f"/api/secrets/{made['item']['id']}"
    answers = [made, owner.call("put", path, {"value": canary})[1]]
    answers += [owner.call("get", at)[1] for at in (path, "/api/secrets", "/api/audit")]
    again = owner.call("post", "/api/secrets", {"name": "password", "value": canary})
    assert again[0] == 409
    assert canary not in str(answers) + str(again)


def test_a_view(owner: Caller) -> None:
    body = {"name": "one", "query": "SELECT 1 AS x"}
    made = _created(owner, "/api/views", body)
    assert made["item"]["name"] == "one"
    for query in ("SELECT 1; DROP VIEW one", "DROP VIEW one", "SELECT FROM WHERE", ""):
        assert owner.call("post", "/api/views", {"name": "two", "query": query})[0] == 422
    assert owner.call("get", "/api/views")[1]["total"] == 1


def test_a_connection_that_cannot_work_is_itemised(owner: Caller) -> None:
    body = {
        "name": "nowhere",
        "host": "127.0.0.1",
        "port": 1,
        "upstream_database": "x",
        "user": "x",
    }
    status, refused = owner.call("post", "/api/connections", body)
    assert status in {422, 503}, refused
    assert refused["error"]["message"]
    made = _created(owner, "/api/connections", body | {"validate": False})
    path = f"/api/connections/{made['item']['id']}/validate"
    status, validation = owner.call("post", path)
    assert status == 200, validation
    assert validation["ok"] is False
    assert any(check["level"] == "error" for check in validation["checks"])


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/sources", {"name": "x"}, 422),
        ("/api/sources", AUCTION | {"generator": "nothing"}, 422),
        ("/api/sources", AUCTION | {"options": {"NO SUCH": "1"}}, 422),
        ("/api/sources", AUCTION | {"publication": "p"}, 422),
        ("/api/sources", {"name": "x", "type": "postgres", "publication": "p"}, 422),
        ("/api/tables", {"name": "x"}, 422),
        ("/api/tables", {"name": "x", "columns": []}, 422),
        ("/api/tables", {"name": "x", "columns": [{"name": "a", "type": "nonsense"}]}, 422),
        ("/api/tables", BIDS, 404),
        ("/api/tables", BIDS | {"source": {"id": "u999"}}, 404),
        ("/api/tables", BIDS | {"source": {"id": "u1", "name": "x"}}, 422),
        ("/api/tables/batch", {"tables": []}, 422),
        ("/api/secrets", {"name": "x"}, 422),
        ("/api/secrets", {"name": 1, "value": "x"}, 422),
        ("/api/secrets", [], 422),
    ],
)
def test_what_is_refused(owner: Caller, path: str, body: object, status: int) -> None:
    found, answer = owner.call("post", path, body)
    assert found == status, answer
    assert set(answer["error"]) >= {"message", "code"}


def test_names_are_quoted_never_pasted(owner: Caller) -> None:
    _created(owner, "/api/sources", AUCTION)
    for name in ('a"; DROP SOURCE house; --', "$$", "a.b", "ä", "select", "A"):
        made = _created(owner, "/api/tables", BIDS | {"name": name})
        assert made["item"]["item"]["name"] == name
        path = f"/api/tables/{made['item']['item']['id']}"
        assert owner.call("delete", path)[0] == 200
    assert owner.call("get", "/api/sources")[1]["total"] == 1


def test_others_may_look_but_not_touch(owner: Caller, member: Caller) -> None:
    source = _created(owner, "/api/sources", AUCTION)["item"]["item"]["id"]
    table = _created(owner, "/api/tables", BIDS)["item"]["item"]["id"]
    secret = _created(owner, "/api/secrets", {"name": "s", "value": "v"})["item"]["id"]
    assert member.call("get", f"/api/tables/{table}")[0] == 200
    for method, path, body in (
        ("patch", f"/api/sources/{source}", {"name": "mine"}),
        ("delete", f"/api/sources/{source}?cascade=true", None),
        ("delete", f"/api/tables/{table}", None),
        ("patch", f"/api/tables/{table}", {"name": "mine"}),
        ("put", f"/api/secrets/{secret}", {"value": "mine"}),
        ("delete", f"/api/secrets/{secret}", None),
    ):
        status, answer = member.call(method, path, body)
        assert status == 403, (method, path, answer)
        assert answer["error"]["code"] == "42501"


def test_what_happened_is_listed(owner: Caller) -> None:
    _created(owner, "/api/sources", AUCTION)
    page = owner.call("get", "/api/audit?search=create+source")[1]
    assert page["total"] == 1
    assert page["items"][0]["user"] == "ada@example.com"
    for path in ("/api/feeds", "/api/status-history"):
        assert owner.call("get", path)[0] == 200
