"""The catalog at a revision, in memory: loaded once per process and revision."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import replace
from typing import Any

from django.db import transaction

from catalog.models import (
    Comment,
    ConnectionDetails,
    Database,
    Dependency,
    FeatureFlag,
    Item,
    ItemColumn,
    Region,
    Role,
    Schema,
    SourceDetails,
    TableDetails,
)
from catalog.plan.picture import (
    ConnectionFacts,
    Counters,
    Entry,
    Facts,
    Namespace,
    Picture,
    RoleEntry,
    SourceFacts,
    TableFacts,
)
from catalog.stored import export_column, parsed_type
from catalog.view_facts import view_facts
from ingest.contract.relation import Column, Relation

_cache: dict[str, tuple[str, Picture]] = {}
_lock = threading.Lock()


def current(region: str) -> Picture:
    """The region's catalog as it is now; costs one small query unless it changed."""
    stamp = str(Region.objects.values_list("stamp", flat=True).get(name=region))
    with _lock:
        cached = _cache.get(region)
    if cached is not None and cached[0] == stamp:
        return cached[1]
    stamp, picture = load(region)
    with _lock:
        _cache[region] = (stamp, picture)
    return picture


def load(region: str) -> tuple[str, Picture]:
    """Read the whole region, and the stamp of its state, in one database transaction.

    Fifteen queries, whatever its size.
    """
    with transaction.atomic():
        row = Region.objects.get(name=region)
        namespaces = _namespaces(row)
        picture = Picture(
            region=region,
            revision=row.revision,
            entries=_entries(row),
            namespaces=namespaces,
            roles={
                role.name: RoleEntry(role.gid, role.oid, role.name, role.superuser)
                for role in Role.objects.filter(region=row)
            },
            flags=dict(FeatureFlag.objects.filter(region=row).values_list("name", "value")),
            counters=Counters(row.next_item, row.next_namespace, row.next_oid),
            comments=_comments(row),
        )
    return str(row.stamp), picture


def _namespaces(region: Region) -> dict[tuple[str, ...], Namespace]:
    found: dict[tuple[str, ...], Namespace] = {}
    databases = Database.objects.filter(region=region).order_by("pk")
    for gid, oid, name, owner in databases.values_list("gid", "oid", "name", "owner__name"):
        found[(name,)] = Namespace(gid, oid, (name,), owner)
    schemas = Schema.objects.filter(database__region=region).order_by("pk")
    fields = ("gid", "oid", "database__name", "name", "owner__name")
    for gid, oid, database, name, owner in schemas.values_list(*fields):
        found[(database, name)] = Namespace(gid, oid, (database, name), owner)
    return found


def _comments(region: Region) -> dict[tuple[str, int], str]:
    rows = Comment.objects.filter(item__region=region)
    return {
        (gid, column): text
        for gid, column, text in rows.values_list("item__gid", "column", "text")
    }


def _entries(region: Region) -> dict[str, Entry]:
    columns, defaults = _columns(region)
    needs = _needs(region)
    facts = _facts(region, defaults)
    keys = {
        item: tuple(name for _, name in sorted(names)) for item, names in _keys(columns).items()
    }
    found: dict[str, Entry] = {}
    fields = (
        "pk",
        "gid",
        "oid",
        "kind",
        "schema__database__name",
        "schema__name",
        "name",
        "owner__name",
        "create_sql",
        "shard",
    )
    rows = Item.objects.filter(region=region).order_by("pk").values_list(*fields)
    for pk, gid, oid, kind, database, schema, name, owner, create_sql, shard in rows:
        relation = Relation(
            tuple(Column(column, type_, nullable) for column, type_, nullable, _ in columns[pk])
            if pk in columns
            else (),
            keys.get(pk, ()),
        )
        found[gid] = Entry(
            id=gid,
            oid=oid,
            kind=kind,
            path=(database, schema, name),
            owner=owner,
            create_sql=create_sql,
            relation=relation,
            shard=shard,
            needs=tuple(needs.get(pk, ())),
            facts=facts.get(pk),
        )
    return found


_Columns = dict[int, list[tuple[str, Any, bool, int | None]]]


def _columns(region: Region) -> tuple[_Columns, dict[int, dict[str, str]]]:
    columns: _Columns = defaultdict(list)
    defaults: dict[int, dict[str, str]] = defaultdict(dict)
    rows = ItemColumn.objects.filter(item__region=region).order_by("item_id", "position")
    fields = ("item_id", "name", "type", "nullable", "default", "key_position")
    for item, name, type_, nullable, default, key_position in rows.values_list(*fields):
        columns[item].append((name, parsed_type(type_), nullable, key_position))
        if default is not None:
            defaults[item][name] = default
    return columns, defaults


def _keys(columns: _Columns) -> dict[int, list[tuple[int, str]]]:
    keys: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for item, rows in columns.items():
        for name, _, _, position in rows:
            if position is not None:
                keys[item].append((position, name))
    return keys


def _needs(region: Region) -> dict[int, list[str]]:
    needs: dict[int, list[str]] = defaultdict(list)
    rows = Dependency.objects.filter(item__region=region).order_by("pk")
    for item, needed in rows.values_list("item_id", "needs__gid"):
        needs[item].append(needed)
    return needs


def _facts(region: Region, defaults: dict[int, dict[str, str]]) -> dict[int, Facts]:
    found: dict[int, Facts] = {}
    for connection in ConnectionDetails.objects.filter(item__region=region):
        found[connection.pk] = ConnectionFacts(connection.type, connection.options)
    sources = SourceDetails.objects.filter(item__region=region)
    for source in sources.select_related("connection", "feed"):
        found[source.pk] = SourceFacts(
            type=source.type,
            connection=source.connection.gid if source.connection else "",
            publication=source.publication,
            generator=source.generator,
            options=source.options,
            started_at=source.started_at,
            feed=source.feed.gid,
        )
    tables = TableDetails.objects.filter(item__region=region)
    for table in tables.values(*_TABLE_FIELDS):
        made, of = _table(table, defaults), found.get(table["item_id"])
        found[table["item_id"]] = replace(of, output=made) if isinstance(of, SourceFacts) else made
    found.update(view_facts(region))
    return found


_TABLE_FIELDS = (
    "item_id",
    "source__gid",
    "namespace",
    "reference",
    "identity",
    "export_columns",
    "text_columns",
    "exclude_columns",
    "snapshot_group",
)


def _table(row: dict[str, Any], defaults: dict[int, dict[str, str]]) -> TableFacts:
    return TableFacts(
        source=row["source__gid"] or "",
        namespace=row["namespace"],
        reference=row["reference"],
        identity=row["identity"],
        columns=tuple(export_column(column) for column in row["export_columns"]),
        text_columns=tuple(row["text_columns"]),
        exclude_columns=tuple(row["exclude_columns"]),
        snapshot_group=row["snapshot_group"],
        defaults=defaults.get(row["item_id"], {}),
    )
