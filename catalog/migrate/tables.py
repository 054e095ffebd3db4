"""Sources to tables (seed 000): a picture of the catalog to a plan. Pure.

The seed's rules. A source whose primary relation has the data gives its name and its data to a new
table with a new id; it keeps its own id, is called `<s>_source` (`<s>_source_N` where that is
taken), and what read the data depends on the table. Subsources become tables of the same name, id
and options, and their source loses what it said about them. Webhooks become tables as they are.
Progress subsources own nothing any more: a view of that name and id shows the source's progress,
so that every query goes on as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catalog.migrate.downloads import dbt_changes, terraform_changes
from catalog.migrate.legacy import Legacy, legacy_entries
from catalog.migrate.plan import Blocker, Measured, Plan, Step
from catalog.migrate.texts import (
    EXPORT_OPTIONS,
    Clauses,
    listed,
    option,
    parsed_path,
    source_text,
    table_text,
)
from catalog.names import Path, dotted
from catalog.plan.definitions import renamed
from catalog.plan.picture import Entry, Picture, TableFacts
from catalog.plan.scope import LONGEST_NAME
from catalog.plan.source import LSN, OFFSET
from catalog.sql.render import qualified
from ingest.contract.relation import Relation
from ingest.errors import HeadraceError

UNKNOWN = Measured()
_WHY = {
    "to table": "A subsource becomes a table: same name, id, options and data.",
    "strip": "The source keeps name and id; what it said about its tables is said by them.",
    "split": "The source keeps its id and gives its name and data to a table.",
    "new table": "Has the name and the data that were the source's, under a new id.",
    "progress view": "Its collection is the source's own now; a view keeps name and id.",
    "webhook": "A webhook becomes a table: same name, id, options and data.",
    "reads": "Reads the same data, which is a table's now.",
    "follows": "Follows the source under its new name.",
}
_PER_STEP = 0.0006
_FIXED = 0.05
"""Seconds of an apply per step, and altogether; measured, see docs/migrations.md."""


class Planner:
    """One plan in the making."""

    def __init__(self, picture: Picture, measured: Mapping[str, Measured]) -> None:
        self._picture = picture
        self._measured = measured
        self._legacy = legacy_entries(picture)
        self._taken = set(picture.by_path)
        self._item = picture.counters.item
        self._oid = picture.counters.oid
        self._steps: list[Step] = []
        self._ids: dict[str, str] = {}
        self._moved: dict[str, Path] = {}
        self._paths: dict[str, Path] = {}
        self._blockers: list[Blocker] = []
        self._progress = {
            one.source: one.entry for one in self._legacy if one.kind == "progress" and one.source
        }

    def plan(self) -> Plan:
        """The whole plan."""
        for one in self._legacy:
            if one.kind == "single-output" and not self._blocked(one):
                self._name_apart(one.entry)
        for one in self._legacy:
            if one.problem:
                self._unreadable(one)
            else:
                self._one(one)
        dependents = self._dependents()
        steps = tuple(self._steps)
        return Plan(
            kind="sources to tables",
            region=self._picture.region,
            revision=self._picture.revision,
            steps=steps,
            ids=self._ids,
            dependents=dependents,
            feeds=self._feeds(),
            bytes=sum(
                max(0, self._known(one.entry).bytes) for one in self._legacy if one.entry.shard
            ),
            seconds=round(_FIXED + _PER_STEP * len(steps), 2),
            blockers=tuple(self._blockers),
            notes=self._notes(),
            dbt=dbt_changes(steps),
            terraform=terraform_changes(steps, self._picture),
        )

    def _known(self, entry: Entry) -> Measured:
        return self._measured.get(entry.id, UNKNOWN)

    def _blocked(self, one: Legacy) -> bool:
        if one.problem:
            return True
        name = one.entry.name + "_source"
        if len(name.encode()) > LONGEST_NAME:
            problem = f'its name is too long for "_source" to be added ({LONGEST_NAME} bytes)'
            remedy = "ALTER SOURCE .. RENAME TO a shorter name."
            self._block(one.entry, problem, remedy)
            return True
        if not self._known(one.entry).readable:
            remedy = "Wait until its status is running; then plan again."
            self._block(one.entry, "its snapshot is not complete", remedy)
            return True
        return False

    def _block(self, entry: Entry, problem: str, remedy: str) -> None:
        self._blockers.append(Blocker(entry.id, dotted(entry.path), problem, remedy))

    def _unreadable(self, one: Legacy) -> None:
        remedy = "Drop it, or correct its definition; SHOW CREATE SOURCE shows it."
        self._block(one.entry, one.problem, remedy)

    def _name_apart(self, entry: Entry) -> None:
        """Choose `<s>_source`, or the first `<s>_source_N` that is free."""
        database, schema, name = entry.path
        path, number = (database, schema, f"{name}_source"), 0
        while path in self._taken:
            number += 1
            path = (database, schema, f"{name}_source_{number}")
        self._taken.add(path)
        self._paths[entry.id] = path
        self._ids[entry.id] = f"u{self._item}"
        self._item += 1

    def _one(self, one: Legacy) -> None:
        match one.kind:
            case "subsource":
                self._subsource(one)
            case "multi-output":
                self._multi(one)
            case "single-output":
                if one.entry.id in self._ids:
                    self._single(one)
            case "progress":
                self._progress_view(one)
            case "webhook":
                text = one.entry.create_sql.replace("CREATE SOURCE ", "CREATE TABLE ", 1)
                self._step(one.entry, "to table", text, "webhook", new_kind="table")

    def _step(
        self, entry: Entry, action: str, after: str, why: str = "", **fields: object
    ) -> None:
        made: dict[str, object] = {
            "new_kind": entry.kind,
            "new_path": entry.path,
            "extra": {"feed": self._feed(entry), "bytes": self._known(entry).bytes},
        }
        made.update(fields)
        self._steps.append(
            Step(
                action=action,  # type: ignore[arg-type]
                item=entry.id,
                kind=entry.kind,
                path=entry.path,
                before=entry.create_sql,
                after=after,
                why=_WHY[why or action],
                **made,  # type: ignore[arg-type]
            )
        )

    def _subsource(self, one: Legacy) -> None:
        source = self._picture.entries[one.source]
        read = _clauses(one)
        reference = _reference(one.entry, option(read.withs, "EXTERNAL REFERENCE"))
        if not reference:
            remedy = "Drop it with DROP SOURCE and create the table from its source."
            self._block(one.entry, "it does not say which upstream table it has", remedy)
            return
        path = self._paths.get(source.id, source.path)
        text = table_text(one.entry.path, path, reference, _export_options(read.withs))
        needs = tuple(dict.fromkeys((source.id, *self._kept(one.entry))))
        self._step(one.entry, "to table", text, new_kind="table", needs=needs)

    def _kept(self, entry: Entry) -> tuple[str, ...]:
        """What an entry needs but for progress subsources."""
        gone = {other.id for other in self._progress.values()}
        return tuple(item for item in entry.needs if item not in gone)

    def _multi(self, one: Legacy) -> None:
        text = source_text(one.entry.path, _clauses(one))
        needs = self._kept(one.entry)
        extra = self._source_extra(one.entry)
        if one.entry.shard:
            extra["retired"] = one.entry.shard
        self._step(one.entry, "strip", text, needs=needs, extra=extra)

    def _single(self, one: Legacy) -> None:
        entry, read = one.entry, _clauses(one)
        path, table = self._paths[entry.id], self._ids[entry.id]
        self._step(
            entry,
            "split",
            source_text(path, read),
            new_path=path,
            needs=self._kept(entry),
            extra=self._source_extra(entry),
        )
        options = _export_options((*read.options, *read.withs))
        reference = _single_reference(entry, read)
        text = table_text(entry.path, path, reference, read.data, options)
        extra = {"feed": self._feed(entry), "bytes": self._known(entry).bytes, "from": entry.id}
        step = Step(
            action="new table",
            item="",
            kind="",
            new_kind="table",
            path=entry.path,
            new_path=entry.path,
            before="",
            after=text,
            why=_WHY["new table"],
            new_item=table,
            oid=self._oid,
            needs=(entry.id,),
            extra={**extra, "reference": list(reference)},
        )
        self._oid += 1
        self._steps.append(step)

    def _source_extra(self, entry: Entry) -> dict[str, object]:
        """What a source's own relation is afterwards: its progress."""
        shown = self._progress_relation(entry)
        columns = [[c.name, c.type.sql, c.nullable] for c in shown.columns]
        known = self._known(entry).bytes
        return {"feed": self._feed(entry), "bytes": known, "columns": columns}

    def _progress_relation(self, entry: Entry) -> Relation:
        progress = self._progress.get(entry.id)
        if progress is not None and progress.relation.columns:
            return progress.relation
        return LSN if " FROM POSTGRES " in entry.create_sql else OFFSET

    def _progress_view(self, one: Legacy) -> None:
        source = self._picture.entries[one.source]
        path = self._paths.get(source.id, source.path)
        names = [column.name for column in self._progress_relation(source).columns]
        columns = ", ".join(qualified((name,)) for name in names)
        words = ("CREATE VIEW", qualified(one.entry.path), "AS SELECT", columns)
        text = " ".join((*words, "FROM", qualified(path)))
        extra: dict[str, object] = {"retired": one.entry.shard} if one.entry.shard else {}
        self._step(
            one.entry, "progress view", text, new_kind="view", needs=(source.id,), extra=extra
        )

    def _dependents(self) -> tuple[str, ...]:
        """Let what needs a split source follow its data, or the source if it is a table of it."""
        stepped = {step.item for step in self._steps}
        found: list[str] = []
        for entry in self._picture.entries.values():
            changed = [item for item in entry.needs if item in self._ids]
            if not changed or entry.id in stepped:
                continue
            found.append(entry.id)
            if _rows(entry) is not None and entry.table.source in changed:
                self._follow(entry, changed)
            else:
                needs = tuple(self._ids.get(item, item) for item in entry.needs)
                self._step(entry, "repoint", entry.create_sql, "reads", needs=needs)
        closure = self._picture.closure(
            one.entry.id for one in self._legacy if one.kind != "progress"
        )
        own = {one.entry.id for one in self._legacy}
        return tuple(entry.id for entry in closure if entry.id not in own)

    def _follow(self, entry: Entry, changed: Iterable[str]) -> None:
        text = entry.create_sql
        try:
            for item in changed:
                old = self._picture.entries[item].path
                text = renamed(text, old, self._paths[item])
        except HeadraceError as error:
            remedy = "Drop the table, and create it again after the migration."
            self._block(entry, f"its definition cannot be rewritten: {error.message}", remedy)
            return
        self._step(entry, "repoint", text, "follows")

    def _feed(self, entry: Entry) -> str:
        rows = _rows(entry)
        source = self._picture.entries.get(rows.source) if rows is not None else None
        found = getattr((source or entry).facts, "feed", "")
        return str(found)

    def _feeds(self) -> tuple[str, ...]:
        feeds = {str(step.extra.get("feed", "")) for step in self._steps}
        return tuple(sorted(feeds - {""}))

    def _notes(self) -> tuple[str, ...]:
        notes = [
            "No data moves and nothing is copied again; feeds keep running.",
            "Queries, ids of subsources, owners, comments and dependents stay as they are.",
        ]
        if self._picture.flags.get("enable_create_table_from_source", "on") != "on":
            notes.append("enable_create_table_from_source is turned on with it.")
        if self._steps:
            notes.append("force_source_table_syntax is turned on with it.")
        return tuple(notes)


def plan_tables(picture: Picture, measured: Mapping[str, Measured] | None = None) -> Plan:
    """The plan that brings a region's sources to the form with tables.

    `measured` tells about data by item id. What cannot be done is a blocker of the plan.
    """
    return Planner(picture, measured or {}).plan()


def _clauses(one: Legacy) -> Clauses:
    if one.clauses is None:
        raise TypeError(one.entry.id)
    return one.clauses


def _export_options(texts: tuple[str, ...]) -> str:
    kept: list[str] = []
    for name in EXPORT_OPTIONS[:2]:
        value = option(texts, name)
        if value:
            kept.append(" ".join((name, "=", value)))
    return listed("WITH", tuple(kept))


def _rows(entry: Entry) -> TableFacts | None:
    """What a table, a subsource or a source with rows of its own takes from upstream."""
    return entry.table if entry.fed else None


def _reference(entry: Entry, told: str | None) -> tuple[str, ...]:
    rows = _rows(entry)
    if rows is not None and rows.reference:
        return tuple(part for part in (rows.namespace, rows.reference) if part)
    if not told:
        return ()
    return parsed_path(told)[-2:]


def _single_reference(entry: Entry, read: Clauses) -> tuple[str, ...]:
    found = _reference(entry, None)
    if found:
        return found
    if topic := option(read.options, "TOPIC"):
        return (topic.strip("'").replace("''", "'"),)
    generator = read.kind.removeprefix("FROM LOAD GENERATOR").strip().lower().replace(" ", "_")
    return (generator, generator) if "LOAD GENERATOR" in read.kind else ()
