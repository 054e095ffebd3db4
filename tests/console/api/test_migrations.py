"""Migrations and regions over REST."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.migrate.dump import dump
from catalog.models import ExportProgress
from tests.console.api.conftest import Caller

REGION = "local/embedded"
OLD = (
    "ALTER SYSTEM SET force_source_table_syntax = off",
    "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER",
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION FOR ALL TABLES",
    "CREATE VIEW v AS SELECT counter FROM counter",
)


@pytest.fixture
def legacy(owner: Caller) -> Caller:
    for statement in OLD:
        (result,) = owner.sql(statement)
        assert "error" not in result, result
    ExportProgress.objects.update(readable_from=1, status="running")
    return owner


def _plan(caller: Caller) -> str:
    status, body = caller.call("post", "/api/migrations", {"kind": "sources to tables"})
    assert status == 201, body
    return str(body["id"])


def test_from_dry_run_to_rollback(legacy: Caller) -> None:
    before = dump(REGION)
    gid = _plan(legacy)
    assert dump(REGION) == before
    status, body = legacy.call("get", f"/api/migrations/{gid}?limit=3")
    assert status == 200
    assert body["row"]["summary"]["blockers"] == []
    assert len(body["steps"]) == 3
    assert body["total"] == body["row"]["summary"]["steps"] > 8
    assert body["row"]["next"].startswith("Look at its steps")
    status, body = legacy.call("post", f"/api/migrations/{gid}/apply")
    assert (status, body["state"]) == (200, "applied")
    assert body["pause"] >= 0
    (result,) = legacy.sql("SHOW TABLES")
    assert {row[0] for row in result["rows"]} >= {"counter", "bids"}
    status, body = legacy.call("get", f"/api/migrations/{gid}?search=counter")
    assert {"counter_source"} <= {step["new_name"].split(".")[-1] for step in body["steps"]}
    assert legacy.call("get", f"/api/migrations/{gid}/rollback-blockers")[1]["total"] == 0
    assert [event["event"] for event in body["events"]] == ["plan", "applying", "applied"]
    status, body = legacy.call("post", f"/api/migrations/{gid}/rollback")
    assert (status, body["state"]) == (200, "rolled back")
    assert dump(REGION) == before
    status, body = legacy.call("get", "/api/migrations")
    assert [one["state"] for one in body["items"]] == ["rolled back"]


@pytest.mark.parametrize("what", ["dbt", "terraform", "sql"])
def test_downloads(legacy: Caller, what: str) -> None:
    gid = _plan(legacy)
    answer = legacy.client.get(f"/api/migrations/{gid}/download/{what}")
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
    assert b"counter_source" in answer.content


def test_the_flag_waits_for_the_migration(legacy: Caller) -> None:
    (result,) = legacy.sql("ALTER SYSTEM SET force_source_table_syntax = true")
    assert "objects to migrate" in result["error"]["message"]
    gid = _plan(legacy)
    legacy.call("post", f"/api/migrations/{gid}/apply")
    (result,) = legacy.sql("ALTER SYSTEM SET force_source_table_syntax = true")
    assert "error" not in result


def test_a_changed_catalog_asks_for_a_new_plan(legacy: Caller) -> None:
    gid = _plan(legacy)
    legacy.sql("CREATE VIEW w AS SELECT counter FROM counter")
    status, body = legacy.call("post", f"/api/migrations/{gid}/apply")
    assert status == 409
    assert body["error"]["hint"] == "Plan again, and look at the new plan."


def test_only_owners(member: Caller) -> None:
    for method, path in (
        ("get", "/api/migrations"),
        ("post", "/api/migrations"),
        ("get", "/api/regions"),
        ("put", "/api/region/aws/us-east-1"),
    ):
        status, _ = member.call(method, path, {})
        assert status == 403, path


def test_unknown(owner: Caller) -> None:
    assert owner.call("get", "/api/migrations/m9")[0] == 404
    assert owner.call("post", "/api/migrations/m9/apply")[0] == 404
    body = {"kind": "sources to tables", "region": "aws/nowhere"}
    assert owner.call("post", "/api/migrations", body)[0] == 404
    assert owner.call("post", "/api/migrations", {"kind": "x"})[0] == 422


def test_a_region_is_made_once(owner: Caller) -> None:
    status, body = owner.call("put", "/api/region/aws/us-east-1", {})
    assert status == 201, body
    assert body["name"] == "aws/us-east-1"
    assert body["warehouse"].endswith("/regions/aws/us-east-1")
    assert owner.call("put", "/api/region/aws/us-east-1", {})[0] == 200
    status, listed = owner.call("get", "/api/regions")
    assert [one["name"] for one in listed["items"]] == [REGION, "aws/us-east-1"]
    assert owner.call("put", "/api/region/AWS/..", {})[0] in {404, 422}


def test_a_session_chooses_its_region(owner: Caller) -> None:
    owner.call("put", "/api/region/aws/us-east-1", {})
    there = "/api/sql?region=aws/us-east-1"
    _, body = owner.call("post", there, {"query": "CREATE VIEW far AS SELECT 1 AS one"})
    assert body["results"] == [{"ok": "CREATE VIEW", "notices": []}]
    _, body = owner.call("post", there, {"query": "SELECT name FROM mz_views WHERE name = 'far'"})
    assert body["results"][0]["rows"] == [["far"]]
    (here,) = owner.sql("SELECT name FROM mz_views WHERE name = 'far'")
    assert here["rows"] == []
    assert owner.call("post", "/api/sql?region=aws/x", {"query": "SELECT 1"})[0] == 404


def test_defaults_for_new_regions(owner: Caller) -> None:
    body = {"name": "force_source_table_syntax", "value": "off"}
    assert owner.call("put", "/api/flag-defaults", body)[0] == 200
    _, made = owner.call("put", "/api/region/aws/eu-west-1", {})
    flags = {flag["name"]: flag for flag in made["flags"]}
    assert flags["force_source_table_syntax"] == {
        "name": "force_source_table_syntax",
        "value": "off",
        "own": True,
    }
    _, old = owner.call("get", f"/api/region/{REGION}")
    pinned = {flag["name"]: flag["value"] for flag in old["flags"] if flag["own"]}
    assert pinned == {"force_source_table_syntax": "on"}
    owner.sql("ALTER SYSTEM SET force_source_table_syntax = off")
    _, changes = owner.call("get", f"/api/region/{REGION}/flags")
    assert changes["items"][0]["new"] == "off"


def test_a_rollout(legacy: Caller) -> None:
    now = timezone.now()
    cohort = {
        "name": "first",
        "regions": [REGION],
        "opens_at": (now + timedelta(hours=1)).isoformat(),
        "closes_at": (now + timedelta(hours=2)).isoformat(),
    }
    status, body = legacy.call("post", "/api/cohorts", cohort)
    assert (status, body["regions"]) == (201, [REGION])
    told = {"title": "Sources become tables", "text": "Nothing moves.", "cohort": "first"}
    status, body = legacy.call("post", "/api/announcements", told)
    assert (status, body["opens_at"] is not None) == (201, True)
    _, region = legacy.call("get", f"/api/region/{REGION}")
    assert region["progress"]["single_output"] == 1
    assert region["progress"]["subsources"] == 5
    assert region["cohort"] == "first"
    gid = _plan(legacy)
    status, body = legacy.call("post", f"/api/migrations/{gid}/approve")
    assert (status, body["state"]) == (200, "approved")
    status, body = legacy.call("post", f"/api/migrations/{gid}/pause")
    assert (status, body["state"]) == (200, "paused")
