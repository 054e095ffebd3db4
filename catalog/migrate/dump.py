"""A region's definitions as canonical text: equal texts are equal catalogs.

One JSON object a line, sorted: namespaces, flags, items with their columns and everything else
that belongs to them, whatever models there are. Left out is what only counts up or runs (revision,
numbers for new ids, audit, progress), and values of secrets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import ForeignKey, Model

from catalog.models import Database, FeatureFlag, Item, Region, Role, Schema

_RUNNING = {
    "ExportProgress",
    "ViewProgress",
    "PlainTableWrite",
    "SourceReference",
    "ReferenceDrift",
    "SecretValue",
}
"""Models of what runs, of what was seen upstream, and of what nobody may read."""


def dump(region: str) -> str:
    """The text; two catalogs with the same one define the same."""
    row = Region.objects.get(name=region)
    lines = [*_spaces(row), *_items(row)]
    return "".join(
        json.dumps(line, sort_keys=True, cls=DjangoJSONEncoder, separators=(",", ":")) + "\n"
        for line in lines
    )


def _spaces(region: Region) -> Iterator[dict[str, Any]]:
    for role in Role.objects.filter(region=region).order_by("name"):
        yield {"role": role.name, "id": role.gid, "oid": role.oid, "superuser": role.superuser}
    for database in Database.objects.filter(region=region).order_by("name"):
        yield {"database": database.name, "id": database.gid, "oid": database.oid}
    schemas = Schema.objects.filter(database__region=region).select_related("database")
    for schema in schemas.order_by("database__name", "name"):
        path = [schema.database.name, schema.name]
        yield {"schema": path, "id": schema.gid, "oid": schema.oid, "owner": schema.owner.name}
    for flag in FeatureFlag.objects.filter(region=region).order_by("name"):
        yield {"flag": flag.name, "value": flag.value}


def _items(region: Region) -> Iterator[dict[str, Any]]:
    rows = Item.objects.filter(region=region).select_related("schema__database", "owner")
    ids = dict(rows.values_list("pk", "gid"))
    parts = _parts(region, ids)
    for item in sorted(rows, key=lambda item: int(item.gid[1:])):
        yield {
            "item": item.gid,
            "oid": item.oid,
            "kind": item.kind,
            "name": [item.schema.database.name, item.schema.name, item.name],
            "owner": item.owner.name,
            "create_sql": item.create_sql,
            "shard": item.shard,
            "created_at": item.created_at,
            "parts": parts.get(item.pk, {}),
        }


def _parts(region: Region, ids: dict[int, str]) -> dict[int, dict[str, list[Any]]]:
    """Rows of every model that hangs on items, by item and by model."""
    found: dict[int, dict[str, list[Any]]] = {}
    for relation in Item._meta.related_objects:  # noqa: SLF001
        model, field = relation.related_model, relation.field
        if not isinstance(model, type) or model.__name__ in _RUNNING or field.name != "item":
            continue
        rows = model._default_manager.filter(item__region=region)  # noqa: SLF001
        for row in rows.values(*_columns(model)):
            mine = found.setdefault(row["item_id"], {}).setdefault(model.__name__, [])
            mine.append(_named(model, row, ids))
    for lists in found.values():
        for rows_ in lists.values():
            rows_.sort(key=lambda row: json.dumps(row, sort_keys=True, cls=DjangoJSONEncoder))
    return found


def _columns(model: type[Model]) -> list[str]:
    fields = model._meta.concrete_fields  # noqa: SLF001
    return [f.attname for f in fields if not f.primary_key or isinstance(f, ForeignKey)]


def _named(model: type[Model], row: dict[str, Any], ids: dict[int, str]) -> dict[str, Any]:
    """The row without its own item, and items by their ids."""
    items = {
        f.attname
        for f in model._meta.concrete_fields  # noqa: SLF001
        if isinstance(f, ForeignKey) and f.related_model is Item
    }
    return {
        name: ids.get(value, value) if name in items else value
        for name, value in row.items()
        if name != "item_id"
    }
