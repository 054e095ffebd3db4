"""What every CREATE of an item shares: its ids, its canonical text, its place."""

from __future__ import annotations

from typing import Any

from catalog.names import Path
from catalog.plan.picture import Entry, Facts
from catalog.plan.scope import Scope
from catalog.sql.nodes.names import ItemKind, Name
from ingest.contract.relation import Relation


def new_entry(scope: Scope, kind: ItemKind, path: Path, create_sql: str, **fields: Any) -> Entry:
    """The next item, owned by the session's role; `fields` are Entry's others."""
    counters = scope.picture.counters
    return Entry(
        id=f"u{counters.item}",
        oid=counters.oid,
        kind=kind,
        path=path,
        owner=scope.role,
        create_sql=create_sql,
        **fields,
    )


def full(path: tuple[str, ...]) -> Name:
    """A fully qualified name as a node."""
    return Name(path)


def collection(scope: Scope, relation: Relation, facts: Facts) -> dict[str, Any]:
    """The fields of an item that holds data; its shard is named after the id it was made with."""
    shard = f"u{scope.picture.counters.item}" + (f"-{scope.nonce}" if scope.nonce else "")
    return {"relation": relation, "facts": facts, "shard": shard}
