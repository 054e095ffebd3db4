"""Load generators: the state after a tick is what the ticks before it made, in any order asked."""

from __future__ import annotations

import pytest

from ingest.contract.commands import Generator
from ingest.errors import Terminal
from ingest.feeds import generators
from ingest.feeds.generators import kind as kinds
from ingest.feeds.generators import rows

CASES: tuple[tuple[str, dict[str, str], int], ...] = (
    ("counter", {}, 30),
    ("counter", {"MAX CARDINALITY": "7"}, 30),
    ("auction", {"TICK INTERVAL": "500ms"}, 45),
    ("tpch", {"SCALE FACTOR": "0.00002", "TICK INTERVAL": "1s"}, 75),
    ("key value", {"KEYS": "12", "PARTITIONS": "3", "BATCH SIZE": "3", "VALUE SIZE": "9"}, 13),
)


def definition(kind: str, options: dict[str, str]) -> Generator:
    return Generator(kind, 1_700_000_000_000, options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "options", "ticks"), CASES)
def test_state_is_the_sum_of_the_changes(kind: str, options: dict[str, str], ticks: int) -> None:
    content, _ = generators.make(definition(kind, options))
    again, _ = generators.make(definition(kind, options))
    tables = {table.identity: table for table in content.tables}
    held = {
        identity: {table.key_of(row): row for row in content.state(identity, 0)}
        for identity, table in tables.items()
    }
    for tick in range(1, ticks + 1):
        for change in content.changes(tick):
            key = tables[change.identity].key_of(change.row)
            there = key in held[change.identity]
            assert there == (change.op != "i"), (tick, change)
            if change.op == "d":
                assert held[change.identity].pop(key) == change.row
            else:
                held[change.identity][key] = change.row
    for identity, table in tables.items():
        state = list(again.state(identity, ticks))
        assert {table.key_of(row): row for row in state} == held[identity]
        assert len(state) == len(held[identity])


@pytest.mark.parametrize(("kind", "options", "ticks"), CASES)
def test_rows_have_the_promised_types(kind: str, options: dict[str, str], ticks: int) -> None:
    content, _ = generators.make(definition(kind, options))
    changes = [(n, change) for n in range(1, ticks) for change in content.changes(n)]
    assert rows.logged(changes, {t.identity: t for t in content.tables}).num_rows == len(changes)
    for reference in generators.list_references(definition(kind, options)):
        state = list(content.state(reference.identity, ticks))
        assert {len(row) for row in state} == {len(reference.columns)}


def test_ticks_are_a_function_of_time() -> None:
    clock = kinds.clock({"TICK INTERVAL": "500ms", "UP TO": "12000"}, 10_000, "1s")
    assert [clock.due(now) for now in (9_000, 10_000, 10_499, 10_500, 11_999, 99_999)] == [
        0,
        0,
        0,
        1,
        3,
        3,
    ]
    assert kinds.clock({"AS OF": "5000"}, 10_000, "1s").due(10_000) == 5
    assert kinds.clock({}, 10_000, "0").due(99_999) == 0


@pytest.mark.parametrize(
    ("text", "ms"), [("1s", 1000), ("250 ms", 250), ("2 minutes", 120_000), ("00:00:01.5", 1500)]
)
def test_intervals(text: str, ms: float) -> None:
    assert kinds.milliseconds(text) == ms


def test_an_impossible_interval_is_refused() -> None:
    with pytest.raises(Terminal, match="invalid TICK INTERVAL: soon"):
        kinds.milliseconds("soon")


def test_names_of_options_may_be_small() -> None:
    given = {"max cardinality": "3", "tick interval": "100ms"}
    content, clock = generators.make(definition("counter", given))
    assert clock.interval == 100
    (table,) = content.tables
    assert list(content.state(table.identity, 9)) == [(7,), (8,), (9,)]
