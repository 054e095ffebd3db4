"""What a source's progress looks like."""

from __future__ import annotations

from catalog.plan.picture import SourceFacts
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

LSN = Relation((Column("lsn", Type("uint8"), nullable=False),))
OFFSET = Relation((Column("offset", Type("uint8"), nullable=False),))


def frontier_of(facts: SourceFacts) -> Relation:
    """The relation of a source's progress."""
    return LSN if facts.type == "postgres" else OFFSET
