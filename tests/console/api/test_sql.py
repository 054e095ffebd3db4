"""POST /api/sql and POST /query: the shapes, the order, the end at the first error."""

from __future__ import annotations

from typing import Any

import pytest

from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db

SOURCE = "CREATE SOURCE house FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')"


def test_rows_have_tag_rows_description_and_notices(owner: Caller) -> None:
    (result,) = owner.sql("SELECT name FROM mz_databases WHERE name = 'headrace'")
    assert set(result) == {"tag", "rows", "desc", "notices"}
    assert result["tag"] == "SELECT 1"
    assert result["rows"] == [["headrace"]]
    assert result["notices"] == []
    expected = {"name": "name", "type_oid": 25, "type_len": -1, "type_mod": -1}
    assert result["desc"] == {"columns": [expected]}


def test_numbers_are_strings_null_is_null_and_booleans_are_json(owner: Caller) -> None:
    (result,) = owner.sql(
        "SELECT 1 AS one, NULL AS nothing, TRUE AS yes, name FROM mz_databases "
        "WHERE name = 'headrace'"
    )
    assert result["rows"] == [["1", None, True, "headrace"]]


def test_statements_without_rows_say_ok(owner: Caller) -> None:
    (made,) = owner.sql(SOURCE)
    assert made["ok"] == "CREATE SOURCE"
    assert made["notices"] == []
    (again,) = owner.sql(SOURCE.replace("SOURCE", "SOURCE IF NOT EXISTS", 1))
    assert again["ok"] == "CREATE SOURCE"
    (notice,) = again["notices"]
    assert notice["code"] in {"42710", "42P07"}
    assert notice["severity"] == "notice"
    assert "already exists" in notice["message"]


def test_an_error_is_the_last_result(owner: Caller) -> None:
    results = owner.sql("SELECT 1; SELECT * FROM missing; SELECT 2")
    assert [sorted(result) for result in results] == [
        ["desc", "notices", "rows", "tag"],
        ["error", "notices"],
    ]
    error = results[1]["error"]
    assert error["code"] == "42P01"
    assert "missing" in error["message"]


def test_a_syntax_error_has_a_place_and_nothing_runs(owner: Caller) -> None:
    (result,) = owner.sql(f"{SOURCE};\nCREATE SOURCE FROM")
    assert result["error"]["code"] == "42601"
    assert result["error"]["line"] == 2
    assert result["error"]["column"] > 1
    assert owner.call("get", "/api/sources")[1]["total"] == 0


def test_set_answers_with_the_parameter(owner: Caller) -> None:
    (result,) = owner.sql("SET application_name = 'tests'")
    assert result["ok"] == "SET"
    assert result["parameters"] == [{"name": "application_name", "value": "tests"}]


def test_options_are_session_variables(owner: Caller) -> None:
    body = {"query": "SHOW application_name"}
    status, answer = owner.call("post", '/api/sql?options={"application_name":"loader"}', body)
    assert status == 200
    assert answer["results"][0]["rows"] == [["loader"]]


def test_parameters_stand_for_values(owner: Caller) -> None:
    query = "SELECT name FROM mz_databases WHERE name = $1"
    queries: list[dict[str, Any]] = [
        {"query": query, "params": ["headrace"]},
        {"query": query, "params": ["' OR 'x' = 'x"]},
        {"query": query, "params": [None]},
        {"query": "SHOW application_name"},
    ]
    status, answer = owner.call("post", "/api/sql", {"queries": queries})
    assert status == 200
    assert [result["rows"] for result in answer["results"][:3]] == [[["headrace"]], [], []]
    assert len(answer["results"]) == 4


def test_a_query_of_queries_is_one_statement(owner: Caller) -> None:
    body = {"queries": [{"query": "SELECT 1"}, {"query": "SELECT 1; SELECT 2"}]}
    status, answer = owner.call("post", "/api/sql", body)
    assert status == 200
    assert [set(result) & {"error", "rows"} for result in answer["results"]] == [
        {"rows"},
        {"error"},
    ]
    assert answer["results"][1]["error"]["code"] == "42601"


def test_several_definitions_stand_or_fall_together(owner: Caller) -> None:
    table = "CREATE TABLE counter FROM SOURCE house (REFERENCE counter)"
    results = owner.sql(f"{SOURCE}; {table}; {table}")
    assert results[-1]["error"]["code"] == "42P07"
    assert owner.call("get", "/api/sources")[1]["total"] == 0
    assert [result["ok"] for result in owner.sql(f"{SOURCE}; {table}")] == [
        "CREATE SOURCE",
        "CREATE TABLE",
    ]
    assert owner.call("get", "/api/tables")[1]["total"] == 1


def test_an_empty_text_has_no_results(owner: Caller) -> None:
    for text in ("", " ; ", "-- nothing"):
        assert owner.sql(text) == []


def test_the_seeds_query_takes_text_and_answers_with_a_list(owner: Caller) -> None:
    plain = owner.client.post("/query", "SELECT 1; SHOW SOURCES", content_type="text/plain")
    assert plain.status_code == 200
    assert [result["tag"] for result in plain.json()] == ["SELECT 1", "SELECT 0"]
    for body in ("SELECT 1", {"query": "SELECT 1"}):
        status, answer = owner.call("post", "/query", _json(body))
        assert status == 200
        assert answer[0]["rows"] == [["1"]]


def _json(body: object) -> object:
    return f'"{body}"' if isinstance(body, str) else body


def test_secrets_stay_out_of_errors(owner: Caller) -> None:
    canary = "canary-4711"
    for text in (
        f"CREATE SECRET s AS '{canary}'; CREATE SECRET s AS '{canary}'",
        f"CREATE SECRET nowhere.nothing.s AS '{canary}'",
        "SHOW CREATE SECRET s",
        "SELECT * FROM mz_secrets",
        "SELECT details FROM mz_audit_events",
    ):
        assert canary not in str(owner.sql(text))
