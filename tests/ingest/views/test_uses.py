"""Which inputs' changes a step looks at once, so that it need not compute them first."""

from __future__ import annotations

import pytest

from ingest.views.incremental import uses
from tests.ingest.views.shapes import maintained


@pytest.mark.parametrize(
    ("sql", "once"),
    [
        ("SELECT a FROM t WHERE b > 1", {"u1"}),
        ("SELECT t.a FROM t JOIN u ON t.a = u.a", {"u1", "u2"}),
        ("SELECT t.a FROM t JOIN t AS o ON t.a = o.b", {"u1", "u1_2"}),
        ("SELECT a FROM t UNION ALL SELECT a FROM u", {"u1", "u2"}),
        ("SELECT t.a, u.c FROM t LEFT JOIN u ON t.a = u.a", set()),
        ("SELECT a, count(*) AS n FROM t GROUP BY a", set()),
        ("SELECT DISTINCT a FROM t", set()),
        ("SELECT a FROM t ORDER BY a LIMIT 3", set()),
    ],
)
def test_once(sql: str, once: set[str]) -> None:
    found = uses(maintained(sql).block)
    assert {name for name, times in found.items() if times == 1} == once
    assert min(found.values()) > 0
