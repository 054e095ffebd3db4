"""What CREATE SOURCE says of a load generator reaches the generator."""

from __future__ import annotations

from catalog.plan.source import resolve_generator
from catalog.sql.nodes.source import CreateSource
from catalog.sql.parse import parse_one
from ingest.feeds import generators


def test_options_reach_the_generator() -> None:
    parsed = parse_one(
        "CREATE SOURCE s FROM LOAD GENERATOR COUNTER (TICK INTERVAL '100ms', MAX CARDINALITY 3)"
    )
    statement = parsed.statement
    assert isinstance(statement, CreateSource)
    content, clock = generators.make(resolve_generator(statement, 0))
    assert clock.interval == 100
    assert len(list(content.state(content.tables[0].identity, 9))) == 3
