"""The steps of a table's switch to a new one, with their statements; pure.

Nothing is kept of what is done: a step is done when the catalog shows its work, whoever did it.
So going on after a crash, or after statements that somebody ran by hand, is looking again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from catalog.migrate.schema_change.names import Readers, readers
from catalog.names import Path, dotted, plural
from catalog.plan.definitions import definition, renamed
from catalog.plan.picture import Entry, Picture, ViewFacts
from catalog.sql.nodes.comment import CommentOn
from catalog.sql.nodes.item import Drop, Rename
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.names import ItemKind, Name
from catalog.sql.nodes.replacement import ApplyReplacement, CreateReplacement, RollbackReplacement
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import CreateTableFromSource
from catalog.sql.render import render

StepKind = Literal["table", "snapshot", "view", "replacement", "compare", "apply", "retire"]


@dataclass(frozen=True)
class Running:
    """What is known of data by item id: `readable` tables, `hydrated` views, and `errors`.

    `columns` are those that upstream had at the last look, None where that is not known.
    """

    readable: frozenset[str] = frozenset()
    hydrated: frozenset[str] = frozenset()
    errors: Mapping[str, str] = field(default_factory=dict)
    columns: frozenset[str] | None = None


@dataclass(frozen=True)
class Change:
    """A switch as it was begun: the old table's id and name, and the names in between, by id."""

    table: str
    path: Path
    names: Mapping[str, Path]


@dataclass(frozen=True)
class Step:
    """One thing to do. `statements` is empty where there is only something to wait for.

    `item` is the id of what it is about now, `made` of what it made, where that is there.
    `error` says why what is waited for does not come.
    """

    kind: StepKind
    name: str
    why: str
    statements: tuple[str, ...]
    done: bool
    item: str = ""
    made: str = ""
    error: str = ""

    @property
    def waits(self) -> bool:
        """Whether nothing can be done but wait."""
        return not self.statements


class Planner:
    """Steps of one switch, from a picture of the catalog and what is known of data."""

    def __init__(self, change: Change, picture: Picture, running: Running) -> None:
        self._change = change
        self._picture = picture
        self._running = running
        self._retired = change.table not in picture.entries

    def steps(self) -> tuple[Step, ...]:
        """All of them in order; the first that is not done is the next."""
        if self._retired:
            return self._after()
        found = readers(self._picture, self._change.table)
        views = [one for one in found.views if one.id in self._change.names]
        kept = self._kept(found)
        return (
            *self._table(),
            *(self._view(one, views) for one in views),
            *(step for one in kept for step in self._replacement(one, views)),
            *(self._apply(one) for one in kept),
            self._retire(views),
        )

    def _after(self) -> tuple[Step, ...]:
        name = dotted(self._change.path)
        return (Step("retire", name, "The new table has the old one's name.", (), done=True),)

    def _kept(self, found: Readers) -> list[Entry]:
        """Materialized views that read it, and those that did when this was begun."""
        reading = {one.id for one in found.kept}
        ids = [item for item in self._change.names if item in self._picture.entries]
        kinds = [self._picture.entries[item] for item in ids if item != self._change.table]
        return [one for one in kinds if one.kind == "materialized view" or one.id in reading]

    def _new(self, item: str) -> Entry | None:
        return self._picture.by_path.get(self._change.names[item])

    def _table(self) -> Iterator[Step]:
        old = self._picture.entries[self._change.table]
        path = self._change.names[old.id]
        made = self._new(old.id)
        statement = definition(old.create_sql)
        if not isinstance(statement, CreateTableFromSource):
            raise TypeError(old.create_sql)
        sql = render(self._beside(statement, path))
        why = "A new table on the same reference takes the columns that upstream has now."
        yield Step("table", dotted(path), why, (sql,), made is not None, old.id, _id(made))
        why = "Its snapshot is read while the old table goes on."
        ready = made is not None and made.id in self._running.readable
        yield Step("snapshot", dotted(path), why, (), ready, old.id, _id(made), self._error(made))

    def _beside(self, statement: CreateTableFromSource, path: Path) -> CreateTableFromSource:
        """The same table under another name, without options of columns that are gone."""
        there = self._running.columns
        text, excluded = statement.text_columns, statement.exclude_columns
        if there is not None:
            text = tuple(name for name in text if name in there)
            excluded = tuple(name for name in excluded if name in there)
        return replace(statement, name=Name(path), text_columns=text, exclude_columns=excluded)

    def _view(self, view: Entry, views: list[Entry]) -> Step:
        made = self._new(view.id)
        sql = self._moved(view, (view.id, *(one.id for one in views)))
        why = "A view beside the old one reads the new table."
        name = dotted(self._change.names[view.id])
        return Step("view", name, why, (sql,), made is not None, view.id, _id(made))

    def _moved(self, entry: Entry, items: tuple[str, ...]) -> str:
        """Its definition with the new names of the table and of these items."""
        sql = entry.create_sql
        for item in dict.fromkeys((self._change.table, *items)):
            sql = renamed(sql, self._picture.entries[item].path, self._change.names[item])
        return sql

    def _replacement(self, view: Entry, views: list[Entry]) -> Iterator[Step]:
        made = self._new(view.id)
        made = made if made is not None and _targets(made, view) else None
        path, applied = self._change.names[view.id], self._applied(view)
        statement = definition(self._moved(view, tuple(one.id for one in views)))
        if not isinstance(statement, CreateMaterializedView):
            raise TypeError(view.create_sql)
        sql = render(_replacing(statement, path))
        why = "A replacement computes the view on the new table, beside the view."
        there = made is not None or applied
        yield Step("replacement", dotted(path), why, (sql,), there, view.id, _id(made))
        why = "Every row that would change is counted; look at them before applying."
        ready = applied or (made is not None and made.id in self._running.hydrated)
        error = self._error(made)
        yield Step("compare", dotted(path), why, (), ready, view.id, _id(made), error)

    def _apply(self, view: Entry) -> Step:
        path = self._change.names[view.id]
        sql = render(ApplyReplacement(Name(view.path), Name(path)))
        why = "One commit; readers see the old rows or the new ones, whole."
        return Step("apply", dotted(view.path), why, (sql,), self._applied(view), view.id)

    def _applied(self, view: Entry) -> bool:
        """Whether the view reads nothing of the old side any more."""
        entries = self._picture.entries
        plain = {
            one for one in self._change.names if one in entries and entries[one].kind == "view"
        }
        olds = {self._change.table, *plain}
        return self._new(self._change.table) is not None and not olds.intersection(view.needs)

    def _retire(self, views: list[Entry]) -> Step:
        why = "The old table goes and the new one takes its name; applied views cannot be undone."
        statements = ("BEGIN", *self._switch(views), "COMMIT")
        return Step("retire", dotted(self._change.path), why, statements, done=False)

    def _switch(self, views: list[Entry]) -> Iterator[str]:
        old = self._picture.entries[self._change.table]
        for view in reversed(views):
            yield render(Drop("view", (Name(view.path),)))
        yield render(Drop("table", (Name(old.path),)))
        for kind, entry in (("table", old), *(("view", view) for view in views)):
            yield render(_rename(kind, self._change.names[entry.id], entry.path))
            yield from self._comments(entry)

    def _comments(self, entry: Entry) -> Iterator[str]:
        """Comments on it, and on those of its columns that the new one has too."""
        made = self._new(entry.id)
        there = {column.name for column in made.relation.columns} if made else set()
        for (item, number), text in sorted(self._picture.comments.items()):
            if item != entry.id:
                continue
            column = entry.relation.columns[number - 1].name if number else ""
            if not column:
                yield render(CommentOn(entry.kind, Name(entry.path), text))
            elif column in there:
                yield render(CommentOn(None, Name(entry.path), text, column))

    def _error(self, made: Entry | None) -> str:
        return self._running.errors.get(made.id, "") if made is not None else ""

    def back(self) -> tuple[str, ...]:
        """What gives it up: applied views as they were, then nothing of what was made is left."""
        if self._retired:
            return ()
        found: list[Statement] = []
        entries = self._picture.entries
        items = [entries[item] for item in self._change.names if item in entries]
        kept = [one for one in items if one.kind == "materialized view"]
        for view in kept:
            made = self._new(view.id)
            if self._applied(view):
                found.append(RollbackReplacement(Name(view.path)))
            elif made is not None and _targets(made, view):
                found.append(Drop("materialized view", (Name(made.path),), replacement=True))
        views = [one for one in items if one.kind == "view"]
        for one in (*reversed(views), entries[self._change.table]):
            made = self._new(one.id)
            if made is not None and made.kind == one.kind:
                found.append(Drop(made.kind, (Name(made.path),)))
        return tuple(render(one) for one in found)


def _id(entry: Entry | None) -> str:
    return entry.id if entry is not None else ""


def _targets(made: Entry, view: Entry) -> bool:
    return isinstance(made.facts, ViewFacts) and made.facts.target == view.id


def _rename(kind: str, old: Path, new: Path) -> Rename:
    kinds: dict[str, ItemKind] = {"table": "table", "view": "view"}
    return Rename(kinds[kind], Name(old), new[2])


def _replacing(statement: CreateMaterializedView, path: Path) -> CreateReplacement:
    return CreateReplacement(
        Name(path),
        statement.name,
        statement.query,
        "",
        statement.columns,
        statement.cluster,
        statement.refresh,
        statement.options,
        body=statement.body,
    )


def told(steps: tuple[Step, ...]) -> str:
    """How far it is, in words."""
    left = [step for step in steps if not step.done]
    if not left:
        return "done"
    return f"{plural(len(steps) - len(left), 'step')} of {len(steps)} done; next: {left[0].kind}"
