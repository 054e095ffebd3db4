"""The OpenAPI schema is valid, complete and without warnings; its page works under its CSP."""

from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    generator: Any = SchemaGenerator()
    GENERATOR_STATS.reset()
    found: dict[str, Any] = generator.get_schema(request=None, public=True)
    return found


def _operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in schema["paths"].values() for operation in path.values()]


def test_valid_and_without_warnings(schema: dict[str, Any], capsys: Any) -> None:
    validate_schema(schema)
    assert schema["openapi"].startswith("3.1")
    assert not GENERATOR_STATS._warn_cache
    assert not GENERATOR_STATS._error_cache


def test_every_operation_says_what_it_does(schema: dict[str, Any]) -> None:
    for operation in _operations(schema):
        assert operation["description"].endswith((".", "`")), operation["operationId"]
        assert operation["tags"]
        assert len(operation["summary"]) < 120
    ids = [operation["operationId"] for operation in _operations(schema)]
    assert len(ids) == len(set(ids))


def test_every_create_has_an_example(schema: dict[str, Any]) -> None:
    for operation in _operations(schema):
        if operation["operationId"].startswith("create"):
            content = operation["requestBody"]["content"]["application/json"]
            assert content["examples"], operation["operationId"]


def test_the_schema_and_its_page_are_there_for_everybody() -> None:
    answer = Client().get("/api/schema", headers={"Accept": "application/json"})
    assert answer.status_code == 200
    page = Client().get("/api/docs")
    assert page.status_code == 200
    policy = page["Content-Security-Policy"]
    assert "'unsafe-inline'" in policy.split("style-src")[1].split(";")[0]
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    text = page.content.decode()
    assert "<script>" not in text
    assert "cdn." not in text


@pytest.mark.django_db
def test_health() -> None:
    assert Client().get("/api/livez").json() == "ok"
    assert Client().get("/api/readyz").json() == "ready"
