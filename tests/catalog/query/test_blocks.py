"""Which kind of blocks queries are cut into, and why; without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

from catalog.query.blocks import unmaintainable
from ingest.contract.views import Block
from tests.ingest.views.shapes import Names, maintained

CASES = [
    line.split("|", 5)
    for line in Path(__file__).with_name("blocks.sql").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[case[5] for case in CASES])
def test_kind_reason_and_keys(case: list[str]) -> None:
    """blocks.sql: the kind, why not a better one, the key, the output key, the folds, a query."""
    query = maintained(case[5])
    block = query.block
    folds = [fold.how for fold in block.folds]
    lists = (query.key, block.output_key, folds)
    assert [block.kind, block.reason, *(",".join(names) for names in lists)] == case[:5]


@pytest.mark.parametrize("case", CASES, ids=[case[5] for case in CASES])
def test_every_place_is_an_input_of_its_own(case: list[str]) -> None:
    query = maintained(case[5])
    names = query.block.inputs
    assert sorted(names) == sorted(query.inputs)
    assert len(set(names)) == len(names)
    assert all(name.split("_")[0] == item for name, item in query.inputs.items())


def _blocks(block: Block) -> list[Block]:
    below = [child for child in block.children.values() if isinstance(child, Block)]
    return [block, *(found for child in below for found in _blocks(child))]


@pytest.mark.parametrize("case", CASES, ids=[case[5] for case in CASES])
def test_every_change_is_followed(case: list[str]) -> None:
    for block in _blocks(maintained(case[5]).block):
        if block.kind in ("linear", "partitioned"):
            followed = [part.child for part in (*block.parts, *block.keys)]
            assert sorted(followed) == sorted(block.children)
        if block.keys:
            last = len(block.parts)
            assert list(block.children)[last:] == [part.child for part in block.keys]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT a, count(*) AS n FROM t WHERE s = 'x' GROUP BY a", ("a", "s")),
        ("SELECT DISTINCT b FROM t", ("b",)),
        ("SELECT a FROM t EXCEPT SELECT b FROM t", ("a",)),
    ],
)
def test_only_columns_that_matter_count_as_changes(sql: str, columns: tuple[str, ...]) -> None:
    assert maintained(sql).block.keys[0].columns == columns


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT s, a, count(*) AS n FROM t WHERE b > 1 GROUP BY 2, 1", ("a", "s")),
        ("SELECT DISTINCT b FROM t", ("b",)),
        ("SELECT t.b, u.s FROM t LEFT JOIN u ON t.a = u.a", ("a",)),
        ("SELECT a + 1 AS a, count(*) AS n FROM t GROUP BY 1", ()),
        ("SELECT a, count(*) AS n FROM (SELECT b AS a FROM t) GROUP BY a", ("b",)),
        ("SELECT a, count(*) AS n FROM (SELECT b + 1 AS a FROM t) GROUP BY a", ()),
        ("SELECT b FROM t WHERE a > 1 UNION SELECT a FROM u", ("b",)),
        ("SELECT u.a, count(*) AS n FROM t JOIN u ON t.a = u.a GROUP BY u.a", ("u2.a",)),
        ("SELECT count(*) AS n FROM t", ()),
    ],
)
def test_keys_that_are_a_childs_columns(sql: str, columns: tuple[str, ...]) -> None:
    assert maintained(sql).block.keys[0].copied == columns


@pytest.mark.parametrize(
    ("sql", "pairs"),
    [
        ("SELECT a, max(b) AS m, count(s) AS n FROM t GROUP BY a", (("v1", "b"), ("v2", "s"))),
        ("SELECT a, max(b + 1) AS m, min(b) AS l FROM t GROUP BY a", (("v2", "b"),)),
        ("SELECT a, max(b) AS m FROM t WHERE b > 1 GROUP BY a", (("v1", "b"),)),
        ("SELECT a, max(b) AS m FROM t WHERE b > a GROUP BY a", None),
        ("SELECT a, max(c) AS m FROM (SELECT a, b AS c FROM t) x GROUP BY a", (("v1", "b"),)),
        ("SELECT a, max(c) AS m FROM (SELECT a, b AS c FROM t WHERE b > a) x GROUP BY a", None),
        (
            "SELECT a, sum(c::numeric) AS m FROM (SELECT a, b AS c FROM t) GROUP BY 1",
            (("v1", "b"),),
        ),
        ("SELECT a, sum(c) AS m FROM (SELECT a, b + 1 AS c FROM t) x GROUP BY a", ()),
        (
            "SELECT a, max(i) AS m FROM (SELECT a, generate_series(1, b) AS i FROM t) GROUP BY 1",
            None,
        ),
        ("SELECT t.a, max(t.b) AS m FROM t JOIN u ON t.a = u.a GROUP BY 1", (("v1", "b"),)),
        ("SELECT t.a, max(t.b) AS m FROM t JOIN u ON t.a < u.a GROUP BY 1", None),
        ("SELECT a, avg(b) AS m, count(s) AS n FROM t GROUP BY a", (("v2", "s"), ("v1", "b"))),
        ("SELECT a, avg(b + 1) AS m, count(s) AS n FROM t GROUP BY a", (("v2", "s"),)),
        ("SELECT a, sum(b::numeric) AS m FROM t GROUP BY a", (("v1", "b"),)),
        ("SELECT a, count(s::bigint) AS n FROM t GROUP BY a", ()),
        ("SELECT a, sum(b::bigint) AS m, max(b::bigint) AS n FROM t GROUP BY a", ()),
        ("SELECT a, sum(b::smallint) AS m FROM t GROUP BY a", ()),
    ],
)
def test_values_that_are_a_childs_columns(
    sql: str, pairs: tuple[tuple[str, str], ...] | None
) -> None:
    """None where a change of the child may give no row, or several."""
    assert maintained(sql).block.keys[0].values == pairs


@pytest.mark.parametrize(
    ("sql", "each"),
    [
        ("SELECT b AS x, a FROM t", ["ba"]),
        ("SELECT a FROM t UNION ALL SELECT c FROM u", ["a", "c"]),
        ("SELECT a FROM t UNION ALL SELECT c + 1 FROM u", ["a", ""]),
        ("SELECT a FROM t UNION ALL SELECT c FROM u WHERE c > a", ["a", None]),
        ("SELECT t.a FROM t, u", [None, None]),
        ("SELECT t.b, u.c FROM t JOIN u ON u.a = t.a", ["bu2.c", "u1.bc"]),
    ],
)
def test_rows_that_are_a_childs_columns(sql: str, each: list[str | None]) -> None:
    """None where a change of the child may give no row, or several."""
    found = [part.values for part in maintained(sql).block.parts]
    assert [None if v is None else "".join(column for _, column in v) for v in found] == each


@pytest.mark.parametrize(
    ("sql", "looked"),
    [
        ("SELECT t.b FROM t JOIN u ON t.a = u.a", "u2 by a=a for a"),
        ("SELECT t.b FROM t, u WHERE u.a = t.a AND (t.s = u.s)", "u2 by a=a s=s for a s"),
        (
            "SELECT t.b FROM t JOIN u ON t.a = u.a JOIN w ON w.k = u.c",
            "u2 by a=a for a c, u3 by u2.c=k for k",
        ),
        (
            "SELECT t.b FROM t, w, u WHERE w.k = u.c AND u.a = t.a AND u.c > 3",
            "u2 by a=a for a c, u3 by u2.c=k for k",
        ),
        ("SELECT t.b FROM t JOIN t AS o ON t.a = o.b", "u1_2 by a=b for b"),
        ("SELECT t.b FROM t JOIN u ON t.a = u.a + 1", ""),
        ("SELECT t.b FROM t JOIN u ON t.a = u.a, w", ""),
        ("SELECT t.b FROM t JOIN u ON t.a = u.a OR t.b = u.a", ""),
        ("SELECT t.b FROM t JOIN (SELECT a + 1 AS a FROM u) AS u ON t.a = u.a", ""),
        ("SELECT t.b FROM t", ""),
    ],
)
def test_joins_that_are_lookups(sql: str, looked: str) -> None:
    """Of the first child's changes: by which columns, and for which ones."""
    part = maintained(sql).block.parts[0]
    said = [
        " ".join(
            (
                each.child,
                "by",
                *(f"{known}={own}" for known, own in each.on),
                "for",
                *(own for _, own in each.columns),
            )
        )
        for each in part.lookups
    ]
    assert ", ".join(said) == looked
    assert not part.lookups or part.values is not None


def test_conditions_over_what_is_looked_up() -> None:
    sql = "SELECT t.b FROM t JOIN w ON t.a = w.k AND w.v > 3 WHERE t.b < 5"
    first, second = maintained(sql).block.parts
    assert [(each.how, each.column) for each in first.where] == [("and", "")]
    assert [each.column for each in first.where[0].parts] == ["u3.v", "b"]
    assert [each.column for each in second.where[0].parts] == ["v", "u1.b"]


@pytest.mark.parametrize(
    ("sql", "copied"),
    [
        ("SELECT a, count(*) AS n, sum(b) AS x FROM t GROUP BY a", "k1 s1 s2 s3"),
        ("SELECT x.n AS m, x.a FROM (SELECT a, count(*) AS n FROM t GROUP BY a) AS x", "s1 k1"),
        ("SELECT a, count(*) + 1 AS n FROM t GROUP BY a", ""),
        ("SELECT a, avg(b) AS n FROM t GROUP BY a", ""),
    ],
)
def test_groups_that_are_what_was_folded(sql: str, copied: str) -> None:
    """With what is hidden behind them: how many values the sum adds up."""
    block = maintained(sql).block
    found = block.copied if block.partial is None else block.partial.copied
    assert " ".join(found) == copied


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT now() FROM t", "now"),
        ("SELECT current_timestamp", "now"),
        ("SELECT a FROM t WHERE mz_now() > 5", "mz_now"),
        ("SELECT current_date - 1 FROM t", "current_date"),
        ("SELECT random()", "random"),
        ("SELECT gen_random_uuid() FROM t", "gen_random_uuid"),
        ("SELECT current_user", "current_user"),
        ("WITH x AS (SELECT now() AS y) SELECT y FROM x", "now"),
        ("SELECT a FROM t WHERE a IN (SELECT random()::int)", "random"),
        ("SELECT a, b FROM wide", None),
        ("SELECT a, 'now' AS now FROM t", None),
    ],
)
def test_what_cannot_be_kept(sql: str, name: str | None) -> None:
    assert unmaintainable(sqlglot.parse_one(sql, read="postgres"), Names()) == name


def test_a_key_is_told_under_the_columns_names() -> None:
    query = maintained("SELECT a, s, count(*) AS n FROM t GROUP BY a, s")
    assert query.key_of(("x", "y", "z")) == ("x", "y")


def test_ties_are_broken_by_all_that_the_answer_is_made_of() -> None:
    sql = maintained(
        "SELECT a, s, row_number() OVER (PARTITION BY a ORDER BY b) n FROM t"
    ).block.sql
    assert "ORDER BY t1.`b` ASC NULLS LAST, t1.`s` ASC NULLS LAST)" in sql
    first = maintained("SELECT a, b FROM t ORDER BY b DESC LIMIT 3").block
    assert first.order == "`b` DESC NULLS FIRST, `a` ASC NULLS LAST"


def test_ranks_keep_their_ties() -> None:
    sql = maintained("SELECT a, s, rank() OVER (PARTITION BY a ORDER BY b) n FROM t").block.sql
    assert "ORDER BY t1.`b` ASC NULLS LAST)" in sql


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        ("SELECT a, count(*) AS n FROM t GROUP BY a", None),
        ("SELECT a, sum(b) AS x FROM t GROUP BY a", ("COUNT(1)", "COUNT(t1.`b`)")),
        ("SELECT a, count(*) AS n, sum(k) AS x FROM w GROUP BY a", None),
        ("SELECT a, avg(k) AS x FROM w GROUP BY a", ("COUNT(1)", "SUM(CAST")),
        ("SELECT a, max(b) AS x FROM t GROUP BY a", ("COUNT(1)",)),
        ("SELECT a, sum(f) AS x, count(*) AS n FROM t GROUP BY a", None),
        ("SELECT a, avg(b) AS x FROM t GROUP BY a HAVING count(*) > 2", None),
        ("SELECT a, count(DISTINCT b) AS x FROM t GROUP BY a", None),
        ("SELECT avg(b) AS x FROM t GROUP BY a", None),
        ("SELECT sum(b) AS x FROM t", None),
    ],
)
def test_what_groups_keep_beside_their_columns(sql: str, hidden: tuple[str, ...] | None) -> None:
    partial = maintained(sql).block.partial
    if hidden is None or partial is None:
        assert partial is None
        assert hidden is None
        return
    assert len(partial.meanings) == len(hidden)
    assert all(map(str.startswith, partial.meanings, hidden))


def test_hidden_columns_have_names_of_their_own() -> None:
    sql = "SELECT a AS mz_partial_1, avg(b) AS mz_Partial_3 FROM t GROUP BY a"
    partial = maintained(sql).block.partial
    assert partial is not None
    assert partial.columns == ("mz_partial_2", "mz_partial_4", "mz_partial_5")
