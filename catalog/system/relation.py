"""How a built-in relation is declared: its columns, and the query that fills it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

_COLUMN = re.compile(r'\s*("?[A-Za-z_0-9]+"?)\s+([^,]+?)\s*$')
_ALIASES = {"name": "text", "regproc": "text", "char": "text", "aclitem[]": "text[]"}


@dataclass(frozen=True)
class SystemRelation:
    """One built-in relation.

    `query` reads the loaded tables in schema `raw`; empty when the relation has no rows yet.
    `reads` are the raw tables it needs, so that only those are loaded.
    """

    schema: str
    name: str
    relation: Relation
    query: str = ""
    reads: tuple[str, ...] = ()
    comment: str = ""

    @property
    def id(self) -> str:
        """The name that a query's tree carries: `schema.name`."""
        return f"{self.schema}.{self.name}"


def declare(
    name: str, columns: str, query: str = "", *, reads: str = "", comment: str = ""
) -> SystemRelation:
    """A relation from text: `columns` is `name type [not null], ..`, `reads` raw table names."""
    schema, _, last = name.partition(".")
    relation = Relation(tuple(_column(part) for part in _split(columns)))
    return SystemRelation(schema, last, relation, query, tuple(reads.split()), comment)


def _split(columns: str) -> list[str]:
    return [part for part in re.split(r",(?![^()]*\))", columns) if part.strip()]


def _column(text: str) -> Column:
    nullable = not text.rstrip().endswith("not null")
    match = _COLUMN.match(text.rstrip().removesuffix("not null"))
    if match is None:
        message = f"not a column: {text}"
        raise ValueError(message)
    type_ = _ALIASES.get(match[2], match[2])
    return Column(match[1].strip('"'), Type.parse(type_), nullable)
