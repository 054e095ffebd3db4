"""Whatever is sent to whatever resource: an answer below 500, and failures in the one shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.api import examples
from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("\x00")
JSON = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
EXAMPLES: dict[str, list[Any]] = {
    "/api/sql": examples.SQL[:2],
    "/api/secrets": examples.SECRET,
    "/api/connections": examples.CONNECTION,
    "/api/sources": examples.SOURCE,
    "/api/tables": examples.TABLE,
    "/api/tables/batch": examples.TABLES,
    "/api/migrations": examples.MIGRATION,
    "/api/cohorts": examples.COHORT,
    "/api/announcements": examples.ANNOUNCEMENT,
    "/api/views": examples.VIEW,
    "/api/materialized-views": examples.MATERIALIZED_VIEW,
    "/api/replacements": examples.REPLACEMENT,
    "/api/tokens": examples.TOKEN,
}


@st.composite
def bent(draw: st.DrawFn) -> tuple[str, Any]:
    """A path, and one of its examples with one field replaced by anything."""
    path = draw(st.sampled_from(sorted(EXAMPLES)))
    body = dict(draw(st.sampled_from(EXAMPLES[path])).value)
    body[draw(st.sampled_from(sorted(body)))] = draw(JSON)
    return path, body


def _checked(answer: tuple[int, Any]) -> None:
    status, body = answer
    assert status < 500 or status == 503
    if status >= 400:
        assert set(body["error"]) >= {"message", "code"}


ONE_DATABASE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=40, deadline=None, suppress_health_check=ONE_DATABASE)
@given(call=bent())
def test_a_bent_example(owner: Caller, call: tuple[str, Any]) -> None:
    path, body = call
    if path == "/api/connections" and isinstance(body.get("host"), str):
        body["host"] = ""
    if path in {"/api/tables", "/api/tables/batch"}:
        body.pop("columns", None)
    _checked(owner.call("post", path, body))


@settings(max_examples=40, deadline=None, suppress_health_check=ONE_DATABASE)
@given(path=st.sampled_from(sorted(EXAMPLES)), body=JSON)
def test_any_json(owner: Caller, path: str, body: Any) -> None:
    _checked(owner.call("post", path, body))


@settings(max_examples=40, deadline=None, suppress_health_check=ONE_DATABASE)
@given(
    noun=st.sampled_from(
        [
            *("connections", "secrets", "sources", "tables", "views", "tokens"),
            *("materialized-views", "replacements"),
        ]
    ),
    part=st.text(st.characters(codec="ascii", exclude_characters="/?#%\\"), min_size=1),
    method=st.sampled_from(["get", "patch", "delete", "put"]),
)
def test_any_id(owner: Caller, noun: str, part: str, method: str) -> None:
    answer = getattr(owner.client, method)(f"/api/{noun}/{part}")
    assert 400 <= answer.status_code < 500
