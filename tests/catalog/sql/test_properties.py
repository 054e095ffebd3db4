"""Properties that hold for every statement and for every text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from catalog.errors import StatementError
from catalog.sql import Parsed, parse_each_or_error, parse_one, render, render_pretty
from catalog.sql.lexer import statements as lexed
from catalog.sql.nodes.statement import Statement
from catalog.sql.spacing import canonical
from tests.catalog.sql.generated import statements
from tests.catalog.sql.golden import cases

CORPUS = [sql for _, sql, _ in cases()]
WORDS = sorted({word for sql in CORPUS for word in sql.split()})
PIECES = [
    *WORDS,
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ".",
    "..",
    "::",
    "'",
    '"',
    "E'\\",
    "$$",
    "/*",
    "--",
]


@given(statements)
def test_canonical_text_reads_back_as_the_same_node(node: Statement) -> None:
    text = render(node)
    again = parse_one(text).statement
    assert again == node
    assert render(again) == text


@given(statements)
def test_console_text_reads_back_as_the_same_node(node: Statement) -> None:
    text = render_pretty(node)
    assert text.endswith(";")
    assert parse_one(text).statement == node


@given(statements)
def test_redacted_text_reads_back(node: Statement) -> None:
    text = render(node, redacted=True)
    assert render(parse_one(text).statement) == text


def _check(sql: str) -> None:
    for outcome in parse_each_or_error(sql):
        if isinstance(outcome, Parsed):
            assert sql[outcome.start :].startswith(outcome.text)
            text = render(outcome.statement)
            assert render(parse_one(text).statement) == text
        else:
            assert isinstance(outcome, StatementError)
            assert outcome.position is not None
            assert 0 <= outcome.position <= len(sql)


@given(st.text(max_size=80))
@example("\0")
@example("\ud800")
@example("SELECT " + "(" * 2000 + "1" + ")" * 2000)
@example("SELECT " + "NOT " * 5000 + "1")
@example("SELECT " + "-" * 5000 + "1")
@example("SELECT 1" + " + 1" * 3000)
@example("SELECT " + "CASE WHEN 1 THEN " * 300 + "1")
def test_any_text_parses_or_says_where_it_fails(sql: str) -> None:
    _check(sql)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_words_parse_or_say_where_they_fail(sql: str) -> None:
    _check(sql)


@given(st.sampled_from(CORPUS), st.sampled_from(PIECES), st.integers(0, 200), st.integers(0, 9))
def test_damaged_statements_parse_or_say_where_they_fail(
    sql: str, piece: str, at: int, length: int
) -> None:
    at = min(at, len(sql))
    _check(sql[:at] + piece + sql[at + length :])


@given(st.lists(st.sampled_from([*PIECES, "-", "+", "1", "a", "*", ":", "x'1'", "e'x'", "$1"])))
def test_canonical_spacing_keeps_the_tokens(pieces: list[str]) -> None:
    try:
        found = list(lexed(" ".join(pieces)))
    except StatementError:
        return
    for tokens in found:
        text = canonical(tokens[:-1])
        again = next(lexed(text))
        assert [t[:3] for t in again[:-1]] == [t[:3] for t in tokens[:-1]]
        assert canonical(again[:-1]) == text
