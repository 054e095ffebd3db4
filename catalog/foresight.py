"""How a query's rows would be kept, before a view is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from catalog import snapshot
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.query.compile import compile_view
from ingest.contract.views import Block


@dataclass(frozen=True)
class Expected:
    """`how` is incremental or recompute, `reason` why not incremental, or what of it is not.
    `key` are columns that no two rows share; `constant`: it reads nothing that can change."""

    how: str
    reason: str
    key: tuple[str, ...]
    constant: bool


def expected(query: exp.Query, role: str, region: str) -> Expected:
    """What the query's blocks say. Raises StatementError as planning it would."""
    names = ReadableNames(Scope(snapshot.current(region), role))
    found = compile_view(query, names)
    reasons = list(dict.fromkeys(_reasons(found.block)))
    how = "recompute" if found.block.kind == "recompute" else "incremental"
    return Expected(how, "; ".join(reasons), found.key, not found.inputs)


def _reasons(block: Block) -> Iterator[str]:
    if block.kind == "recompute" and block.reason:
        yield block.reason
    for child in block.children.values():
        if isinstance(child, Block):
            yield from _reasons(child)
