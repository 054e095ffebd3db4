"""Every golden case, as data."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from sqlglot import exp

from catalog.sql import Parsed, parse, parse_each_or_error, parse_one, render, render_pretty
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.view import CreateView
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


@pytest.mark.parametrize(
    "text", ["'a''b'", "E'a\\'b'", "$$a'b$$", "$x$a'b$x$", "'a'\n  ''''\n 'b'"]
)
def test_every_string_is_a_plain_literal_in_the_tree(text: str) -> None:
    select = parse_one(f"SELECT 1,\n  {text}, x").statement
    assert isinstance(select, Select)
    literal, column = select.query.selects[1:]
    assert literal == exp.Literal.string("a'b")
    assert column.this.meta["start"] == len(f"SELECT 1,\n  {text}, ")


def test_two_thousand_statements_take_less_than_a_second() -> None:
    one = 'CREATE TABLE "T {}" FROM SOURCE s (REFERENCE a."B {}") WITH (TEXT COLUMNS (a, b, c));\n'
    sql = "".join(one.format(n, n) for n in range(2000))
    started = time.process_time()
    assert len(parse(sql)) == 2000
    assert time.process_time() - started < 1


def test_a_changed_tree_is_rendered_when_the_text_is_cleared() -> None:
    view = parse_one("CREATE VIEW v AS SELECT a FROM t").statement
    assert isinstance(view, CreateView)
    changed = exp.select("b").from_("u")
    assert render(replace(view, query=changed, text="")) == "CREATE VIEW v AS SELECT b FROM u"
