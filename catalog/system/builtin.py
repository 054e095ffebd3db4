"""The built-in relations as objects of the catalog themselves: schemas, ids, OIDs, types."""

from __future__ import annotations

from typing import Any

from catalog.models.plans import BuiltinRelation
from ingest.contract.types import Type

SCHEMA_IDS = {
    "pg_catalog": ("s1", 11),
    "mz_catalog": ("s2", 12),
    "mz_internal": ("s3", 13),
    "information_schema": ("s4", 14),
}
BUILTIN_SCHEMAS: list[tuple[Any, ...]] = [
    (gid, oid, None, name, "s1", 10) for name, (gid, oid) in SCHEMA_IDS.items()
]
FIRST_OID = 17_000
_CATEGORIES = {
    "boolean": ("bool", "B"),
    "bytea": ("bytea", "U"),
    "bigint": ("int8", "N"),
    "smallint": ("int2", "N"),
    "integer": ("int4", "N"),
    "text": ("text", "S"),
    "oid": ("oid", "N"),
    "json": ("json", "U"),
    "real": ("float4", "N"),
    "double precision": ("float8", "N"),
    "character": ("bpchar", "S"),
    "character varying": ("varchar", "S"),
    "date": ("date", "D"),
    "time": ("time", "D"),
    "timestamp": ("timestamp", "D"),
    "timestamp with time zone": ("timestamptz", "D"),
    "interval": ("interval", "T"),
    "numeric": ("numeric", "N"),
    "uuid": ("uuid", "U"),
    "jsonb": ("jsonb", "U"),
    "uint4": ("uint4", "N"),
    "uint8": ("uint8", "N"),
    "mz_timestamp": ("mz_timestamp", "N"),
}
_SHOWN = {"timestamp": "timestamp without time zone", "time": "time without time zone"}


def _type_rows() -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for name, (short, category) in _CATEGORIES.items():
        one, many = Type(name), Type(name, array=True)
        shown = _SHOWN.get(name, name)
        rows.append((one.oid, short, many.oid, 0, one.length, category, shown))
        rows.append((many.oid, f"_{short}", 0, one.oid, -1, "A", f"{shown}[]"))
    rows.append((19, "name", 1003, 0, 64, "S", "name"))
    rows.append((18, "char", 1002, 0, 1, "Z", '"char"'))
    rows.append((2205, "regclass", 2210, 0, 4, "N", "regclass"))
    return rows


TYPE_ROWS = _type_rows()


def builtin_objects(region: int) -> list[tuple[Any, ...]]:
    """Rows of `raw.objects` for the built-in relations, with the ids that the region remembers."""
    from catalog.system.registry import RELATIONS

    known = remembered_ids(region)
    return [
        (
            *known.get(relation.id, (gid_of(i), FIRST_OID + i)),
            SCHEMA_IDS[relation.schema][0],
            relation.name,
            "view",
            "s1",
            ["=r/s1"],
            None,
            None,
            "",
        )
        for i, relation in enumerate(RELATIONS)
    ]


def remembered_ids(region: int) -> dict[str, tuple[str, int]]:
    """Ids and OIDs of built-in objects by name, as the region (its key) remembers them."""
    rows = BuiltinRelation.objects.filter(region_id=region)
    return {name: (gid, oid) for name, gid, oid in rows.values_list("name", "gid", "oid")}


def gid_of(index: int) -> str:
    """The id that a built-in relation gets in a region that remembers none yet."""
    return f"s{400 + index}"


def builtin_columns(region: int) -> list[tuple[Any, ...]]:
    """Rows of `raw.columns` for the built-in relations."""
    from catalog.system.registry import RELATIONS

    known = remembered_ids(region)
    return [
        (
            known[relation.id][0] if relation.id in known else gid_of(i),
            column.name,
            position,
            column.nullable,
            column.type.sql,
            None,
            column.type.oid,
            column.type.modifier,
        )
        for i, relation in enumerate(RELATIONS)
        for position, column in enumerate(relation.relation.columns, 1)
    ]
