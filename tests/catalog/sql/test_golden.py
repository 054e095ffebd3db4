"""Every golden case, as data."""

from __future__ import annotations

import pytest

from catalog.sql import Parsed, parse_each_or_error, parse_one, render, render_pretty
from tests.catalog.sql.golden import actual, cases

CASES = [
    pytest.param(sql, expected, id=f"{name}:{number}")
    for number, (name, sql, expected) in enumerate(cases())
]


@pytest.mark.parametrize(("sql", "expected"), CASES)
def test_golden(sql: str, expected: list[str]) -> None:
    assert actual(sql) == expected


@pytest.mark.parametrize(("sql", "expected"), CASES)
def test_both_layouts_read_back(sql: str, expected: list[str]) -> None:
    found = [p.statement for p in parse_each_or_error(sql) if isinstance(p, Parsed)]
    assert len(found) == sum(line.startswith("= ") for line in expected)
    for statement in found:
        for text in (render(statement), render_pretty(statement)):
            assert parse_one(text).statement == statement
