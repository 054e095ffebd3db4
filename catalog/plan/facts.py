"""What purification learned upstream, handed to the pure planners beside the statement."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.contract.upstream import Check, Reference


@dataclass(frozen=True)
class UpstreamFacts:
    """`references` are what upstream offers (a source's whole list, or the one a table asks for).

    `checks` are a validation's items; `now` is the oracle's time (ms) when the statement was
    filled in, for definitions that are functions of time; `group` names the snapshot that the
    tables of one transaction share.
    """

    references: tuple[Reference, ...] = ()
    checks: tuple[Check, ...] = ()
    upstream: str = ""
    now: int = 0
    group: str = ""


NOTHING = UpstreamFacts()
