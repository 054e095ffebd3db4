"""Contract values as JSON in rows, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ingest.contract.commands import ExportColumn
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type
from ingest.contract.upstream import Check, Reference, UpstreamColumn

Json = dict[str, Any]


def type_to_json(type_: Type | None) -> str | None:
    """A type as PostgreSQL spells it."""
    return None if type_ is None else type_.sql


def export_column_to_json(column: ExportColumn) -> Json:
    """One column of a table."""
    return {**asdict(column), "type": column.type.sql}


def export_column(fields: Json) -> ExportColumn:
    """Read back what `export_column_to_json` wrote."""
    return ExportColumn(**{**fields, "type": parsed_type(fields["type"])})


def relation_to_json(relation: Relation) -> list[Json]:
    """A relation's columns."""
    return [
        {"name": column.name, "type": column.type.sql, "nullable": column.nullable}
        for column in relation.columns
    ]


def relation(columns: Iterable[Json]) -> Relation:
    """Read back what `relation_to_json` wrote."""
    return Relation(
        tuple(
            Column(column["name"], parsed_type(column["type"]), column["nullable"])
            for column in columns
        )
    )


def upstream_column_to_json(column: UpstreamColumn) -> Json:
    """One column upstream."""
    return {
        "name": column.name,
        "position": column.position,
        "type_name": column.type_name,
        "type_oid": column.type_oid,
        "type_modifier": column.type_modifier,
        "nullable": column.nullable,
        "native": type_to_json(column.native),
        "text_by_default": column.text_by_default,
    }


def upstream_column(fields: Json) -> UpstreamColumn:
    """Read back what `upstream_column_to_json` wrote."""
    native = fields["native"]
    return UpstreamColumn(**{**fields, "native": parsed_type(native) if native else None})


def check_to_json(check: Check) -> dict[str, str]:
    """One check."""
    return {
        "name": check.name,
        "level": check.level,
        "summary": check.summary,
        "cause": check.cause,
        "fix": check.fix,
        "upstream_sql": check.upstream_sql,
        "sqlstate": check.sqlstate,
    }


def reference(row: Json) -> Reference:
    """A reference from its row's values."""
    return Reference(
        namespace=row["namespace"],
        name=row["name"],
        identity=row["identity"],
        columns=tuple(upstream_column(column) for column in row["columns"]),
        key=tuple(row["key"]),
        replica_identity=row["replica_identity"],
        rows=row["rows"],
        bytes=row["bytes"],
        problems=tuple(Check(**problem) for problem in row["problems"]),
    )


_parsed: dict[str, Type] = {}


def parsed_type(text: str) -> Type:
    """`Type.parse`, remembered: catalogs hold few types many times."""
    found = _parsed.get(text)
    if found is None:
        found = _parsed[text] = Type.parse(text)
    return found
