"""The rows of a region's sources becoming tables, written as changes that can be taken back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from catalog import history
from catalog.migrate.changes import Changes
from catalog.migrate.plan import Plan, Step
from catalog.models import (
    Comment,
    Dependency,
    ExportProgress,
    Item,
    ItemColumn,
    Job,
    Region,
    TableDetails,
)
from catalog.names import Path

_EVENTS = {"new table": "create"}


class TableWriter:
    """One apply's rows; `changes` are what takes them back, `touched` the ids it changed."""

    def __init__(
        self, region: Region, migration: str, user: str, now: dt.datetime, expires: dt.datetime
    ) -> None:
        self.changes = Changes(region)
        self._region = region
        self._migration = migration
        self._now = now
        self._expires = expires
        self._audit = history.Audit(region, user, now)
        rows = Item.objects.filter(region=region)
        self._items = {item.gid: item for item in rows}
        self._shards = {item.gid: item.shard for item in rows}
        self._touched: list[str] = []

    @property
    def touched(self) -> tuple[str, ...]:
        """Ids of the objects that changed, with the new ones."""
        return tuple(dict.fromkeys(self._touched))

    def write(self, plan: Plan, at: Callable[[str], None]) -> None:
        """Everything that the plan's steps say; `at` is told after each kind of row."""
        for step in plan.steps:
            if step.item:
                self._change(step)
        self.changes.flush()
        at("definitions")
        self._new_tables([step for step in plan.steps if step.action == "new table"])
        at("new tables")
        self._source_columns([step for step in plan.steps if "columns" in step.extra])
        at("columns of sources")
        self._progress([step for step in plan.steps if step.action == "progress view"])
        at("progress views")
        self._dependencies(plan)
        at("dependencies")
        self.changes.retable(plan.ids)
        self._retire(plan)
        at("collections")
        for step in plan.steps:
            self._tell(step)
        at("audited")

    def finish(self) -> None:
        """Write the audit events; the region's counters are saved by the caller."""
        self._audit.write()

    def _change(self, step: Step) -> None:
        item = self._items[step.item]
        shard = "" if step.action in {"split", "progress view"} else item.shard
        if step.action == "strip" and "retired" in step.extra:
            shard = ""
        self.changes.set(
            item,
            name=step.new_path[2],
            kind=step.new_kind,
            create_sql=step.after,
            shard=shard,
        )

    def _new_tables(self, steps: list[Step]) -> None:
        made: list[Item] = []
        for step in steps:
            source = self._items[str(step.extra["from"])]
            table = Item(
                region=self._region,
                gid=step.new_item,
                oid=step.oid,
                kind="table",
                schema_id=source.schema_id,
                name=step.new_path[2],
                owner_id=source.owner_id,
                create_sql=step.after,
                shard=self._shards[source.gid],
                created_at=self._now,
            )
            self._region.next_item = max(self._region.next_item, int(step.new_item[1:]) + 1)
            self._region.next_oid = max(self._region.next_oid, step.oid + 1)
            made.append(table)
        self.changes.insert(made)
        self._items.update({table.gid: table for table in made})
        self._carry(steps)

    def _carry(self, steps: list[Step]) -> None:
        """What belongs to the data goes with it: columns, export, progress, comments."""
        pairs = {
            self._items[str(step.extra["from"])].pk: self._items[step.new_item].pk
            for step in steps
        }
        for model in (ItemColumn, TableDetails, ExportProgress, Comment):
            self.changes.move(model, "item_id", pairs)
        tables = {self._items[step.new_item].pk: step for step in steps}
        details = TableDetails.objects.filter(item__region=self._region, item__kind="table")
        known = {row.pk: row for row in details if row.pk in tables}
        new = [self._details(step) for pk, step in tables.items() if pk not in known]
        sources = {table: source for source, table in pairs.items()}
        for pk, row in known.items():
            self.changes.set(row, source_id=sources[pk])
        self.changes.insert(new)
        progress = ExportProgress.objects.filter(item__region=self._region)
        there = set(progress.values_list("pk", flat=True))
        fresh = [ExportProgress(item_id=pk, changed_at=self._now) for pk in tables]
        self.changes.insert([row for row in fresh if row.pk not in there])

    def _details(self, step: Step) -> TableDetails:
        """The export of a source that kept nothing about it but its statement."""
        table, source = self._items[step.new_item], self._items[str(step.extra["from"])]
        named: Any = step.extra.get("reference") or [""]
        columns = ItemColumn.objects.filter(item=table, key_position__isnull=False)
        return TableDetails(
            item=table,
            source=source,
            namespace=named[-2] if len(named) > 1 else "",
            reference=named[-1],
            key=list(columns.order_by("key_position").values_list("name", flat=True)),
        )

    def _source_columns(self, steps: list[Step]) -> None:
        """A source's own relation is its progress."""
        known: dict[int, list[ItemColumn]] = {}
        columns = ItemColumn.objects.filter(item__region=self._region, item__kind="source")
        for row in columns.order_by("item_id", "position"):
            known.setdefault(row.item_id, []).append(row)
        gone: list[ItemColumn] = []
        new: list[ItemColumn] = []
        for step in steps:
            item, wanted = self._items[step.item], step.extra["columns"]
            old = known.get(item.pk, [])
            if [[row.name, row.type, row.nullable] for row in old] == wanted:
                continue
            gone += old
            new += _columns(item, wanted)
        self.changes.delete(gone)
        self.changes.insert(new)

    def _progress(self, steps: list[Step]) -> None:
        items = [self._items[step.item].pk for step in steps]
        for model in (TableDetails, ExportProgress):
            rows = list(model._default_manager.filter(item_id__in=items))  # noqa: SLF001
            self.changes.delete(rows)

    def _dependencies(self, plan: Plan) -> None:
        known: dict[int, dict[int, Dependency]] = {}
        for row in Dependency.objects.filter(item__region=self._region):
            known.setdefault(row.item_id, {})[row.needs_id] = row
        gone: list[Dependency] = []
        new: list[Dependency] = []
        for step in plan.steps:
            if step.needs is None:
                continue
            item = self._items[step.new_item or step.item]
            wanted = {self._items[needed].pk for needed in step.needs}
            mine = known.get(item.pk, {})
            gone += [row for pk, row in mine.items() if pk not in wanted]
            new += [Dependency(item=item, needs_id=pk) for pk in sorted(wanted) if pk not in mine]
        self.changes.delete(gone)
        self.changes.insert(new)

    def _retire(self, plan: Plan) -> None:
        """Collections that nobody owns any more stay until the migration cannot be taken back."""
        retired = [str(step.extra["retired"]) for step in plan.steps if "retired" in step.extra]
        jobs = [
            Job(region=self._region, kind="drop shard", subject=shard, due_at=self._expires)
            for shard in retired
        ]
        self.changes.insert(jobs)

    def _tell(self, step: Step) -> None:
        gid = step.new_item or step.item
        self._touched.append(gid)
        database, schema, name = step.new_path
        details: dict[str, Any] = {
            "id": gid,
            "database": database,
            "schema": schema,
            "item": name,
            "migration": self._migration,
            "action": step.action,
        }
        if step.new_path != step.path:
            details |= {"old_name": step.path[2], "new_name": name}
        if step.new_kind != step.kind and step.kind:
            details |= {"old_type": step.kind}
        if "from" in step.extra:
            details |= {"data_of": step.extra["from"]}
        self._audit.add(_EVENTS.get(step.action, "alter"), step.new_kind, gid, details)


def _columns(item: Item, wanted: Any) -> list[ItemColumn]:
    return [
        ItemColumn(item=item, position=number, name=name, type=type_, nullable=nullable)
        for number, (name, type_, nullable) in enumerate(wanted, 1)
    ]


def path_of(item: Item) -> Path:
    """An item's full name; costs queries unless its schema is there."""
    return item.schema.database.name, item.schema.name, item.name
