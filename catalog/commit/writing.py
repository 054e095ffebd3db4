"""How each operation becomes rows; only `transaction` uses it, inside its transaction.

New rows are collected and written in bulk, so that thousands of CREATEs in one commit cost a few
statements.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db.models import Model

from catalog import history
from catalog.commit.feeds import FeedWriter
from catalog.commit.references import write_references
from catalog.commit.view_writing import Origin, ViewWriter
from catalog.keys import encrypt
from catalog.models import (
    Comment,
    ConnectionDetails,
    Database,
    Dependency,
    ExportProgress,
    Item,
    ItemColumn,
    Region,
    Role,
    Schema,
    SecretValue,
    SourceDetails,
    TableDetails,
    ViewDetails,
    ViewProgress,
    ViewVersion,
)
from catalog.plan.definitions import renamed
from catalog.plan.operations import (
    ApplyReplacement,
    ChangeItem,
    CreateItem,
    RollbackReplacement,
    SetComment,
)
from catalog.plan.picture import (
    ConnectionFacts,
    Entry,
    Namespace,
    SourceFacts,
    TableFacts,
    ViewFacts,
)
from catalog.stored import export_column_to_json
from catalog.view_facts import guard_to_json
from ingest.contract.upstream import Reference

_ORDER = (
    Item,
    ItemColumn,
    Dependency,
    ConnectionDetails,
    SecretValue,
    SourceDetails,
    TableDetails,
    ExportProgress,
    ViewDetails,
    ViewVersion,
    ViewProgress,
)
CLUSTER_ID = "u1"


class Writer:
    """One commit's rows in the making."""

    def __init__(self, region: Region, role: str, now: dt.datetime) -> None:
        self.region = region
        self.role = role
        self.now = now
        self.touched: list[str] = []
        self._new: dict[type[Model], list[Any]] = {model: [] for model in _ORDER}
        self._items: dict[str, Item] = {}
        self._schemas: dict[tuple[str, ...], Schema] = {}
        self._roles: dict[str, Role] = {}
        self._audit = history.Audit(region, role, now)
        self._feeds = FeedWriter(region, now)
        self._views = ViewWriter(region, role, now)

    def create_item(self, operation: CreateItem) -> None:
        """A new item with everything that belongs to it."""
        entry = operation.entry
        item = Item(
            region=self.region,
            gid=entry.id,
            oid=entry.oid,
            kind=entry.kind,
            schema=self._schema(entry.path[:2]),
            name=entry.name,
            owner=self._role(entry.owner),
            create_sql=entry.create_sql,
            shard=entry.shard,
            created_at=self.now,
        )
        self._items[entry.id] = item
        self._new[Item].append(item)
        self._columns(item, entry)
        for needed in entry.needs:
            self._new[Dependency].append(Dependency(item=item, needs=self._item(needed)))
        self._details(item, operation)
        self.region.next_item = max(self.region.next_item, int(entry.id[1:]) + 1)
        self.region.next_oid = max(self.region.next_oid, entry.oid + 1)
        self.audit("create", entry.kind, entry.id, {**_named(entry), **_view_details(entry)})

    def _columns(self, item: Item, entry: Entry) -> None:
        key = {name: position for position, name in enumerate(entry.relation.key, 1)}
        defaults = entry.facts.defaults if isinstance(entry.facts, TableFacts) else {}
        for position, column in enumerate(entry.relation.columns, 1):
            self._new[ItemColumn].append(
                ItemColumn(
                    item=item,
                    position=position,
                    name=column.name,
                    type=column.type.sql,
                    nullable=column.nullable,
                    default=defaults.get(column.name),
                    key_position=key.get(column.name),
                )
            )

    def _details(self, item: Item, operation: CreateItem) -> None:
        match operation.entry.facts:
            case ConnectionFacts() as facts:
                details = ConnectionDetails(item=item, type=facts.type, options=facts.options)
                self._new[ConnectionDetails].append(details)
            case SourceFacts() as facts:
                self._source(item, facts, operation)
                if facts.output is not None:
                    self._table(item, facts.output, operation.entry.relation.key)
            case TableFacts() as facts:
                self._table(item, facts, operation.entry.relation.key)
            case ViewFacts() as facts:
                self._view(item, operation.entry, facts)
            case None:
                if operation.entry.kind == "secret":
                    value = SecretValue(
                        item=item, encrypted=encrypt(operation.secret), changed_at=self.now
                    )
                    self._new[SecretValue].append(value)

    def _source(self, item: Item, facts: SourceFacts, operation: CreateItem) -> None:
        feed = self._feeds.share(facts, operation.upstream)
        details = SourceDetails(
            item=item,
            type=facts.type,
            connection=self._item(facts.connection) if facts.connection else None,
            feed=feed,
            publication=facts.publication,
            generator=facts.generator,
            options=facts.options,
            started_at=facts.started_at,
            references_updated_at=self.now,
        )
        self._new[SourceDetails].append(details)
        self.flush()
        write_references(item, operation.references, self.now, first=True)
        self.touched.append(feed.gid)

    def _table(self, item: Item, facts: TableFacts, key: tuple[str, ...]) -> None:
        details = TableDetails(
            item=item,
            source=self._item(facts.source) if facts.source else None,
            namespace=facts.namespace,
            reference=facts.reference,
            identity=facts.identity,
            text_columns=list(facts.text_columns),
            exclude_columns=list(facts.exclude_columns),
            export_columns=[export_column_to_json(column) for column in facts.columns],
            key=list(key),
            snapshot_group=facts.snapshot_group,
        )
        self._new[TableDetails].append(details)
        progress = ExportProgress(item=item, status="created", changed_at=self.now)
        if not facts.source:
            progress.status, progress.phase = "running", "running"
        self._new[ExportProgress].append(progress)

    def _view(self, item: Item, entry: Entry, facts: ViewFacts) -> None:
        target = self._item(facts.target) if facts.target else None
        self._new[ViewDetails].append(self._views.details(item, facts, target))
        self._new[ViewVersion].append(self._views.version(item, entry, Origin("created")))
        self._new[ViewProgress].append(self._views.progress(item, entry))

    def apply_replacement(self, operation: ApplyReplacement) -> None:
        """The replacement's definition and data are the target's; the replacement goes."""
        self.flush()
        old, new, replacement = operation.target, operation.entry, operation.replacement
        item, other = self._item(old.id), self._item(replacement.id)
        self._views.adopt(item, replacement.shard)
        Dependency.objects.filter(item=other).delete()
        self._views.switch(item, old, new, operation.since, Origin("applied", replacement))
        other.delete()
        for gid in (old.id, replacement.id):
            self._items.pop(gid, None)
        history.status(self.region, replacement.id, "dropped", self.now)
        self.audit("drop", replacement.kind, replacement.id, _named(replacement))
        details = {**_named(old), "replacement": _named(replacement)}
        if operation.automatic:
            details["auto"] = True
        self.audit("alter", old.kind, old.id, details)
        if old.view.cluster != new.view.cluster:
            clusters = {"old_cluster_id": CLUSTER_ID, "new_cluster_id": CLUSTER_ID}
            self.audit("alter", old.kind, old.id, {**_named(old), **clusters})

    def rollback_replacement(self, operation: RollbackReplacement) -> None:
        """An earlier version's definition and data are the view's again."""
        self.flush()
        old, version = operation.target, operation.version
        item = self._item(old.id)
        self._views.still_kept(item, version)
        self._views.switch(item, old, operation.entry, operation.since, Origin("undone"))
        self._items.pop(old.id, None)
        details = {**_named(old), "rollback_replacement": {"version": version.number}}
        self.audit("alter", old.kind, old.id, details)

    def set_comment(self, operation: SetComment) -> None:
        """A comment on an item or a column; None takes it away."""
        self.flush()
        entry, column = operation.entry, operation.column
        item = self._item(entry.id)
        if operation.text is None:
            Comment.objects.filter(item=item, column=column).delete()
        else:
            Comment.objects.update_or_create(
                item=item, column=column, defaults={"text": operation.text}
            )
        sub = {"object_sub_id": column} if column else {}
        details = {**_named(entry), **sub, "comment": operation.text}
        self.audit("comment", entry.kind, entry.id, details)

    def change_item(self, operation: ChangeItem) -> None:
        """A new name or definition for an item."""
        self.flush()
        entry = operation.entry
        Item.objects.filter(region=self.region, gid=entry.id).update(
            name=entry.name, create_sql=entry.create_sql
        )
        self.touched.append(entry.id)
        if isinstance(entry.facts, ViewFacts):
            self._views.retell(entry)
        if operation.renamed_from:
            self._rename_in_versions(entry, operation.renamed_from)
            names = {"old_name": operation.renamed_from, "new_name": entry.name}
            self.audit("alter", entry.kind, entry.id, {**_named(entry), **names})
        if operation.guarded:
            rails = guard_to_json(entry.view.guard)
            ViewDetails.objects.filter(item=self._item(entry.id)).update(guard=rails)
            self.audit("alter", entry.kind, entry.id, {**_named(entry), "guard_rails": rails})

    def _rename_in_versions(self, entry: Entry, old_name: str) -> None:
        """Kept definitions that read the item call it by its new name."""
        old = (entry.path[0], entry.path[1], old_name)
        versions = ViewVersion.objects.filter(item__region=self.region, until__gt=0)
        for version in versions.exclude(shard=""):
            if entry.id in version.needs:
                version.create_sql = renamed(version.create_sql, old, entry.path)
                version.save(update_fields=["create_sql"])

    def drop_item(self, entry: Entry) -> None:
        """Take an item out; its data is removed by a job."""
        self.flush()
        item = self._item(entry.id)
        if isinstance(entry.facts, SourceFacts):
            details = SourceDetails.objects.select_related("feed", "connection").get(item=item)
            self.touched.append(self._feeds.release(details).gid)
        if entry.shard:
            self._views.drop(item, entry.shard)
        Dependency.objects.filter(item=item).delete()
        TableDetails.objects.filter(item=item).delete()
        item.delete()
        self._items.pop(entry.id, None)
        if entry.kind in {"source", "table", "materialized view"}:
            history.status(self.region, entry.id, "dropped", self.now)
        self.audit("drop", entry.kind, entry.id, _named(entry))

    def set_secret(self, entry: Entry, secret: str) -> None:
        """A new value for a secret."""
        self.flush()
        SecretValue.objects.filter(item=self._item(entry.id)).update(
            encrypted=encrypt(secret), changed_at=self.now
        )
        self.audit("alter", "secret", entry.id, _named(entry))

    def set_references(self, entry: Entry, references: tuple[Reference, ...]) -> None:
        """What upstream offers now, with the drift since last time."""
        self.flush()
        item = self._item(entry.id)
        drift = write_references(item, references, self.now, first=False)
        SourceDetails.objects.filter(item=item).update(references_updated_at=self.now)
        details = {**_named(entry), "references": len(references), "drift": drift}
        self.audit("alter", "source", entry.id, details)

    def create_space(self, space: Namespace) -> None:
        """A new database or schema."""
        owner = self._role(space.owner)
        if len(space.path) == 1:
            Database.objects.create(
                region=self.region, gid=space.id, oid=space.oid, name=space.path[0], owner=owner
            )
        else:
            database = Database.objects.get(region=self.region, name=space.path[0])
            Schema.objects.create(
                database=database, gid=space.id, oid=space.oid, name=space.path[1], owner=owner
            )
        self.region.next_namespace = max(self.region.next_namespace, int(space.id[1:]) + 1)
        self.region.next_oid = max(self.region.next_oid, space.oid + 1)
        self.audit("create", _kind(space), space.id, _path(space))

    def drop_space(self, space: Namespace) -> None:
        """Take a database or schema out; its items are gone already."""
        self.flush()
        if len(space.path) == 1:
            Database.objects.filter(region=self.region, gid=space.id).delete()
        else:
            Schema.objects.filter(database__region=self.region, gid=space.id).delete()
        self._schemas.pop(space.path, None)
        self.audit("drop", _kind(space), space.id, _path(space))

    def audit(self, event: str, kind: str, gid: str, details: dict[str, Any]) -> None:
        """One audit event; also notes the object as touched."""
        if gid and kind not in {"schema", "database"}:
            self.touched.append(gid)
        self._audit.add(event, kind.replace(" ", "-"), gid, details)

    def flush(self) -> None:
        """Write the new rows collected so far, in the order of their references."""
        for model in _ORDER:
            rows = self._new[model]
            if rows:
                model._default_manager.bulk_create(rows, batch_size=500)  # noqa: SLF001
                self._new[model] = []

    def finish(self) -> None:
        """Write what is left."""
        self.flush()
        self._audit.write()

    def _item(self, gid: str) -> Item:
        if gid not in self._items:
            self._items[gid] = Item.objects.get(region=self.region, gid=gid)
        return self._items[gid]

    def _schema(self, path: tuple[str, ...]) -> Schema:
        if path not in self._schemas:
            self._schemas[path] = Schema.objects.get(
                database__region=self.region, database__name=path[0], name=path[1]
            )
        return self._schemas[path]

    def _role(self, name: str) -> Role:
        if name not in self._roles:
            self._roles[name] = Role.objects.get(region=self.region, name=name)
        return self._roles[name]


def _named(entry: Entry) -> dict[str, Any]:
    database, schema, item = entry.path
    return {"id": entry.id, "database": database, "schema": schema, "item": item}


def _view_details(entry: Entry) -> dict[str, Any]:
    if not isinstance(entry.facts, ViewFacts):
        return {}
    return {"cluster_id": CLUSTER_ID, "replacement_target_id": entry.facts.target or None}


def _kind(space: Namespace) -> str:
    return "database" if len(space.path) == 1 else "schema"


def _path(space: Namespace) -> dict[str, Any]:
    names = dict(zip(("database_name", "schema_name"), space.path, strict=False))
    return {"id": space.id, **names}
