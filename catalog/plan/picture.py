"""An immutable picture of one region's catalog, which planners plan against.

A picture at a revision is never changed; `Picture.after` gives the picture that a transaction's
operations would lead to, so that later statements of the transaction see the earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from catalog.names import Path
from catalog.sql.nodes.names import ItemKind
from ingest.contract.commands import ExportColumn, Segment
from ingest.contract.relation import Relation


@dataclass(frozen=True)
class ConnectionFacts:
    """A connection's resolved options; a secret stands as `{"secret": "u7"}`."""

    type: str
    options: dict[str, Any]


@dataclass(frozen=True)
class SourceFacts:
    """A source; `type` is `postgres`, `load-generator` or `webhook`. `feed` is empty before the
    commit. `output` is set where the source itself has the rows: the older form, and webhooks."""

    type: str
    connection: str = ""
    publication: str = ""
    generator: str = ""
    options: dict[str, str] = field(default_factory=dict)
    started_at: int = 0
    feed: str = ""
    output: TableFacts | None = None


@dataclass(frozen=True)
class TableFacts:
    """A table; `source` is empty for a plain one, whose `defaults` are SQL by column name."""

    source: str = ""
    namespace: str = ""
    reference: str = ""
    identity: int = 0
    columns: tuple[ExportColumn, ...] = ()
    text_columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()
    snapshot_group: str = ""
    defaults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Guard:
    """When a replacement is applied by itself, once it is hydrated: within these limits.

    `rows` and `percent` (of the target's rows) bound what may change; `window` is the part of the
    day in UTC, minutes from midnight, that it may happen in (the end may be on the next day).
    """

    rows: int | None = None
    percent: float | None = None
    window: tuple[int, int] | None = None


@dataclass(frozen=True)
class Version:
    """A definition that a materialized view had before, kept so that an apply can be undone.

    `until` (ms) is when it was replaced; `expires_at` when it may go, as people read it.
    `replacement` is the full name of the replacement that took its place.
    """

    number: int
    shard: str
    create_sql: str
    relation: Relation
    key: tuple[str, ...]
    needs: tuple[str, ...]
    until: int
    expires_at: str
    replacement: str


@dataclass(frozen=True)
class ViewFacts:
    """A materialized view. `target` is the id of the view that a replacement is for, else empty.

    `segments` are its data's shards, oldest first, each from a time (ms) on; the last one is the
    entry's `shard`. `key` are columns that no two rows share. `sealed`: nothing it reads can
    change. `guard` is None when a person applies the replacement. `options` are those of
    `catalog.plan.view_options`. `version` numbers the definition in force, `applied` is the full
    name of the replacement that it came from, if it did; `before` is what ROLLBACK REPLACEMENT
    brings back, None when nothing was applied.
    """

    target: str = ""
    cluster: str = "quickstart"
    key: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    sealed: bool = False
    options: dict[str, str] = field(default_factory=dict)
    guard: Guard | None = None
    version: int = 1
    applied: str = ""
    before: Version | None = None


NO_COLUMNS = Relation(())
Facts = ConnectionFacts | SourceFacts | TableFacts | ViewFacts | None


@dataclass(frozen=True)
class Entry:
    """One item. `needs` are the ids of the items that it cannot exist without."""

    id: str
    oid: int
    kind: ItemKind
    path: Path
    owner: str
    create_sql: str
    relation: Relation = NO_COLUMNS
    shard: str = ""
    needs: tuple[str, ...] = ()
    facts: Facts = None

    @property
    def name(self) -> str:
        """The item's own name."""
        return self.path[2]

    @property
    def table(self) -> TableFacts:
        """What a table, or a source with rows, holds; raises TypeError for another item."""
        facts = self._rows
        if facts is None:
            raise TypeError(self.kind)
        return facts

    @property
    def fed(self) -> bool:
        """Whether it has rows, and a feed brings them."""
        facts = self._rows
        return facts is not None and bool(facts.source)

    @property
    def _rows(self) -> TableFacts | None:
        facts = self.facts.output if isinstance(self.facts, SourceFacts) else self.facts
        return facts if isinstance(facts, TableFacts) else None

    @property
    def view(self) -> ViewFacts:
        """What a materialized view holds; raises TypeError for another kind of item."""
        if not isinstance(self.facts, ViewFacts):
            raise TypeError(self.kind)
        return self.facts

    @property
    def source(self) -> SourceFacts:
        """What a source holds; raises TypeError for another kind of item."""
        if not isinstance(self.facts, SourceFacts):
            raise TypeError(self.kind)
        return self.facts

    @property
    def connection(self) -> ConnectionFacts:
        """What a connection holds; raises TypeError for another kind of item."""
        if not isinstance(self.facts, ConnectionFacts):
            raise TypeError(self.kind)
        return self.facts


@dataclass(frozen=True)
class Namespace:
    """A database (`path` has one part) or a schema (two parts)."""

    id: str
    oid: int
    path: tuple[str, ...]
    owner: str


@dataclass(frozen=True)
class RoleEntry:
    """A role: who may own items."""

    id: str
    oid: int
    name: str
    superuser: bool


@dataclass(frozen=True)
class Counters:
    """The numbers that the next item, namespace and oid will get."""

    item: int = 1
    namespace: int = 1
    oid: int = 20_000


@dataclass(frozen=True)
class Picture:
    """One region's catalog at one revision.

    `comments` are by item id and column (from 1; 0 is the item itself).
    """

    region: str
    revision: int
    entries: Mapping[str, Entry]
    namespaces: Mapping[tuple[str, ...], Namespace]
    roles: Mapping[str, RoleEntry]
    flags: Mapping[str, str]
    counters: Counters = Counters()
    comments: Mapping[tuple[str, int], str] = field(default_factory=dict)

    @cached_property
    def by_path(self) -> dict[Path, Entry]:
        """Items by their full name."""
        return {entry.path: entry for entry in self.entries.values()}

    @cached_property
    def needed_by(self) -> dict[str, tuple[str, ...]]:
        """Ids of the direct dependents of each item, in order of creation."""
        found: dict[str, list[str]] = {}
        for entry in self.entries.values():
            for needed in entry.needs:
                found.setdefault(needed, []).append(entry.id)
        return {needed: tuple(ids) for needed, ids in found.items()}

    def dependents(self, item: str) -> tuple[Entry, ...]:
        """The items that directly need `item`."""
        return tuple(self.entries[other] for other in self.needed_by.get(item, ()))

    def closure(self, items: Iterable[str]) -> tuple[Entry, ...]:
        """`items` and everything that needs them, dependents before what they need."""
        seen: set[str] = set()
        ordered: list[Entry] = []
        stack = [(item, False) for item in reversed(tuple(items))]
        while stack:
            item, expanded = stack.pop()
            if expanded:
                ordered.append(self.entries[item])
            elif item not in seen:
                seen.add(item)
                stack.append((item, True))
                stack.extend((other, False) for other in self.needed_by.get(item, ()))
        return tuple(ordered)

    def in_schema(self, path: tuple[str, ...]) -> tuple[Entry, ...]:
        """The items of a schema (two parts) or database (one part)."""
        depth = len(path)
        return tuple(entry for entry in self.entries.values() if entry.path[:depth] == path)

    def tables_of(self, source: str) -> tuple[Entry, ...]:
        """What the source's feed fills for it: its tables and subsources, or itself."""
        related = (self.entries[source], *self.dependents(source))
        return tuple(one for one in related if one.fed and one.table.source == source)

    def progress_of(self, entry: Entry) -> Entry | None:
        """The source whose progress the item shows, None for any other item."""
        if entry.kind != "source" or entry.facts is not None:
            return None
        return next((self.entries[n] for n in entry.needs if n in self.entries), None)

    def with_entries(self, changed: Mapping[str, Entry | None]) -> Picture:
        """The picture with entries put in, or taken out where the value is None."""
        entries = dict(self.entries)
        for item, entry in changed.items():
            if entry is None:
                entries.pop(item, None)
            else:
                entries[item] = entry
        return replace(self, entries=entries)
