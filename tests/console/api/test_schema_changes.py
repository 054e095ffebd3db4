"""Blue-green of an upstream schema change over REST, on the catalog without a data plane."""

from __future__ import annotations

import pytest

from catalog import snapshot
from catalog.maintenance import applying
from catalog.models import AuditEvent, ExportProgress, SourceReference, ViewProgress
from tests.console.api.conftest import Caller

REGION = "local/embedded"
SETUP = (
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION",
    "CREATE TABLE bids FROM SOURCE house (REFERENCE bids)",
    "COMMENT ON TABLE bids IS 'what was offered'",
    "COMMENT ON COLUMN bids.amount IS 'in coins'",
    "CREATE VIEW dear AS SELECT b.id, b.amount FROM bids b WHERE amount > 50",
    "CREATE VIEW dearest AS SELECT * FROM dear WHERE amount > 90",
    "CREATE MATERIALIZED VIEW totals AS SELECT auction_id, sum(amount) AS total "
    "FROM bids GROUP BY auction_id",
    "CREATE MATERIALIZED VIEW few AS SELECT count(*) AS n FROM dearest",
    "CREATE VIEW above AS SELECT n FROM few",
)
KINDS = (
    ["table", "snapshot", "view", "view"]
    + ["replacement", "compare"] * 2
    + ["apply", "apply", "retire"]
)


@pytest.fixture(autouse=True)
def _nobody_catches_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No maintainer runs here, so an apply need not wait for one."""
    monkeypatch.setattr(applying, "CATCHING_UP", 0.0)


@pytest.fixture
def drifted(owner: Caller) -> Caller:
    """A table with plain and materialized views on it, and a column more upstream."""
    for statement in SETUP:
        _sql(owner, statement)
    reference = SourceReference.objects.get(name="bids")
    reference.columns = [*reference.columns, {**reference.columns[0], "name": "note"}]
    reference.save()
    _report()
    return owner


def _sql(caller: Caller, statement: str) -> list[list[object]]:
    (result,) = caller.sql(statement)
    assert "error" not in result, result
    return list(result.get("rows", []))


def _report() -> None:
    """As the data plane would, when everything is read and computed."""
    ExportProgress.objects.update(readable_from=1, status="running")
    ViewProgress.objects.update(hydrated=True, status="running", readable_from=1)


def _id(name: str) -> str:
    entries = snapshot.current(REGION).entries.values()
    return next(entry.id for entry in entries if entry.name == name)


def _names() -> set[str]:
    return {entry.name for entry in snapshot.current(REGION).entries.values()}


def _shapes() -> dict[str, object]:
    """What everything reads and what columns it has."""
    entries = snapshot.current(REGION).entries.values()
    return {entry.name: (entry.id, entry.needs, entry.relation) for entry in entries}


def _begin(caller: Caller) -> dict[str, object]:
    status, body = caller.call("post", "/api/schema-changes", {"table": _id("bids")})
    assert status == 201, body
    return dict(body)


def _step(caller: Caller, body: dict[str, object] | None = None) -> tuple[int, dict[str, object]]:
    status, found = caller.call("post", "/api/schema-changes/c1/step", body or {})
    return status, dict(found)


def test_from_drift_to_the_new_table(drifted: Caller) -> None:
    before = _names()
    old = _id("bids")
    body = _begin(drifted)
    assert body["drift"] == ['column "note" was added']
    assert [step["kind"] for step in body["steps"]] == KINDS  # type: ignore[attr-defined]
    assert _names() == before
    assert _begin(drifted)["id"] == "c1"
    while body["state"] == "open":
        _report()
        status, body = _step(drifted)
        assert status == 200, body
    assert _names() == before
    assert _id("bids") != old
    picture = snapshot.current(REGION)
    assert picture.comments[(_id("bids"), 0)] == "what was offered"
    assert "in coins" in picture.comments.values()
    assert old not in {item for entry in picture.entries.values() for item in entry.needs}
    for name in before:
        entry = picture.entries[_id(name)]
        assert "_next" not in entry.create_sql, entry.create_sql
    events = [event["event"] for event in body["events"]]  # type: ignore[attr-defined]
    did = [kind for kind in KINDS if kind not in {"snapshot", "compare"}]
    assert events == ["begin", *did]
    assert AuditEvent.objects.filter(object_type="schema-change").count() == len(events)
    assert _step(drifted)[0] == 422


def test_waiting_is_told(drifted: Caller) -> None:
    _begin(drifted)
    status, body = _step(drifted)
    assert status == 200, body
    assert body["next"] == "Wait until headrace.public.bids_next is running."
    ExportProgress.objects.filter(item__name="bids_next").update(readable_from=0)
    status, body = _step(drifted)
    assert status == 422
    assert "headrace.public.bids_next is not ready" in str(body)


def test_what_others_did_is_seen(drifted: Caller) -> None:
    """Somebody ran the first statements by hand; the flow goes on after them."""
    begun = _begin(drifted)
    steps = begun["steps"]
    for step in steps[:1] + steps[2:4]:  # type: ignore[index]
        _sql(drifted, step["statements"][0])
    _report()
    body = drifted.call("get", "/api/schema-changes/c1")[1]
    assert [step["done"] for step in body["steps"]][:5] == [True] * 4 + [False]
    assert body["next"].startswith("Make headrace.public.totals_next")


def test_another_definition_where_a_column_is_gone(drifted: Caller) -> None:
    _begin(drifted)
    for _ in range(3):
        _report()
        assert _step(drifted)[0] == 200
    other = "CREATE REPLACEMENT wrong FOR MATERIALIZED VIEW totals AS SELECT 1 AS x"
    _report()
    status, body = _step(drifted, {"sql": other})
    assert status == 422
    assert "missing column" in str(body)
    told = drifted.call("get", "/api/schema-changes/c1")[1]
    assert "replacement schema differs" in told["error"]
    assert told["events"][-1]["event"] == "failed"
    fits = (
        "CREATE REPLACEMENT totals_next FOR MATERIALIZED VIEW totals AS "
        "SELECT auction_id, sum(amount) AS total FROM bids_next WHERE amount > 0 "
        "GROUP BY auction_id"
    )
    status, body = _step(drifted, {"sql": fits})
    assert status == 200, body
    assert body["error"] == ""
    waiting = "Wait until headrace.public.totals_next is hydrated"
    assert str(body["next"]).startswith(waiting)


def test_a_statement_that_does_something_else_is_no_step(drifted: Caller) -> None:
    _begin(drifted)
    status, body = _step(drifted, {"sql": "CREATE VIEW other AS SELECT 1 AS one"})
    assert status == 422
    assert "the statement did not make headrace.public.bids_next" in str(body)


@pytest.mark.parametrize("steps", [0, 1, 4, 6, 7])
def test_it_is_given_up(drifted: Caller, steps: int) -> None:
    before = _names()
    shapes = _shapes()
    _begin(drifted)
    for _ in range(steps):
        _report()
        assert _step(drifted)[0] == 200
    status, body = drifted.call("post", "/api/schema-changes/c1/give-up")
    assert (status, body["state"]) == (200, "given up"), body
    assert _names() == before
    assert _shapes() == shapes
    assert drifted.call("post", "/api/schema-changes/c1/give-up")[0] == 422
    status, body = drifted.call("post", "/api/schema-changes", {"table": _id("bids")})
    assert (status, body["id"]) == (201, "c2")


def test_a_view_made_since_stands_in_the_way_of_the_end(drifted: Caller) -> None:
    _begin(drifted)
    for _ in range(7):
        _report()
        assert _step(drifted)[0] == 200
    _sql(drifted, "CREATE VIEW late AS SELECT id FROM bids")
    status, body = _step(drifted)
    assert status == 422
    assert "headrace.public.late reads the old table" in str(body)
    _sql(drifted, "DROP VIEW late")
    assert _step(drifted)[0] == 200


def test_the_script_does_the_same(drifted: Caller) -> None:
    _begin(drifted)
    answer = drifted.client.get("/api/schema-changes/c1/script")
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "SHOW CHANGES FOR REPLACEMENT headrace.public.totals_next" in text
    before = _names()
    old = _id("bids")
    for part in text.split("\n\n"):
        _report()
        lines = [line for line in part.splitlines() if not line.startswith("--")]
        for result in drifted.sql("\n".join(lines)) if lines else []:
            assert "error" not in result, (part, result)
    assert _names() == before
    assert _id("bids") != old
    body = drifted.call("get", "/api/schema-changes/c1")[1]
    assert all(step["done"] for step in body["steps"])


def test_what_it_is_not_for(drifted: Caller) -> None:
    for name in ("dear", "totals", "house"):
        status, body = drifted.call("post", "/api/schema-changes", {"table": _id(name)})
        assert status == 422, name
        assert "is not a table from a source" in str(body)
    assert drifted.call("post", "/api/schema-changes", {"table": "u999"})[0] == 404
    replacement = "CREATE REPLACEMENT r FOR MATERIALIZED VIEW totals AS SELECT auction_id, "
    _sql(drifted, replacement + "sum(amount) AS total FROM bids GROUP BY auction_id")
    status, body = drifted.call("post", "/api/schema-changes", {"table": _id("bids")})
    assert status == 422
    assert "Apply or discard it first" in str(body)
