"""Names in queries: what SELECT may read, and what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from catalog.errors import WrongItemType
from catalog.names import dotted
from catalog.plan.definitions import view_query
from catalog.plan.picture import Entry, TableFacts
from catalog.plan.scope import Scope
from catalog.query.names import Names, Resolved
from catalog.sql.nodes.names import Name


@dataclass
class ReadableNames:
    """A scope as a query sees it; remembers every item that was resolved.

    `system` resolves what the scope does not know; `progress` gives a source's frontier upstream.
    """

    scope: Scope
    system: Names | None = None
    progress: Callable[[Entry], int] | None = None
    used: dict[str, Entry] = field(default_factory=dict)
    systems: list[Resolved] = field(default_factory=list)

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """The readable item that the parts stand for, or None; raises WrongItemType."""
        entry = self.scope.find(Name(parts)) if len(parts) <= 3 else None
        if entry is None:
            found = self.system.resolve(parts) if self.system else None
            if found is not None:
                self.systems.append(found)
            return found
        self.used[entry.id] = entry
        if entry.fed:
            return Resolved(entry.id, "table", entry.relation, key=_key(entry))
        match entry.kind:
            case "table" | "materialized view":
                return Resolved(entry.id, entry.kind, entry.relation, key=_key(entry))
            case "view":
                query = view_query(entry.create_sql)
                return Resolved(entry.id, "view", entry.relation, query, self)
            case "source":
                of = self.scope.picture.progress_of(entry) or entry
                return Resolved(entry.id, "source", entry.relation, self._frontier(entry, of))
            case _:
                message = f"{dotted(parts)} is a {entry.kind} and cannot be queried"
                raise WrongItemType(message)

    def _frontier(self, entry: Entry, source: Entry) -> exp.Query:
        """The one row of what shows a source's progress: how far upstream it has come."""
        upto = self.progress(source) if self.progress else 0
        value = exp.cast(exp.Literal.number(upto), exp.DataType.build("uint8", udt=True))
        return exp.select(exp.alias_(value, entry.relation.names[0], quoted=True))


def _key(entry: Entry) -> tuple[str, ...]:
    """Columns that surely no two rows share. A plain table's key is not checked."""
    if entry.kind == "materialized view":
        return entry.view.key
    plain = isinstance(entry.facts, TableFacts) and not entry.facts.source
    return () if plain else entry.relation.key
