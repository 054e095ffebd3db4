"""A write: statements rendered to text, run through the one door, told back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catalog import reads
from catalog.errors import UnknownItem
from catalog.names import dotted
from catalog.sql.nodes.item import Drop, Rename
from catalog.sql.nodes.names import ItemKind
from catalog.sql.nodes.statement import Statement
from catalog.sql.render import render
from console.api.shapes.items import Removal, Renamed, find, name_of
from console.execute import run
from console.values import notice_body
from ingest.errors import HeadraceError


def write(user: Any, statement: Statement) -> dict[str, Any]:
    """Run one statement. Returns its text (without secrets), tag and notices; raises its error."""
    done = _succeeded(run(user, render(statement)))[-1]
    return {
        "sql": render(statement, redacted=True),
        "tag": done.tag,
        "notices": [notice_body(notice) for notice in done.notices],
    }


def write_together(user: Any, statements: Sequence[Statement]) -> dict[str, Any]:
    """Run statements in one transaction; nothing is kept of it when one fails."""
    text = ";\n".join(["BEGIN", *map(render, statements), "COMMIT"])
    outcomes = _succeeded(run(user, text))
    return {"sql": text, "tags": [outcome.tag for outcome in outcomes]}


def _succeeded(outcomes: Sequence[Any]) -> list[Any]:
    for outcome in outcomes:
        if isinstance(outcome, HeadraceError):
            raise outcome
    return list(outcomes)


def rename(user: Any, item_id: str, kind: ItemKind, body: Any) -> dict[str, Any]:
    """Give an item another name."""
    shape = Renamed(data=body)
    shape.is_valid(raise_exception=True)
    item = find(item_id, kind)
    return write(user, Rename(kind, name_of(item), shape.validated_data["name"]))


def drop(user: Any, item_id: str, kind: ItemKind, query: Any) -> dict[str, Any]:
    """Drop an item."""
    shape = Removal(data=query)
    shape.is_valid(raise_exception=True)
    how = shape.validated_data
    try:
        item = find(item_id, kind)
    except UnknownItem:
        if not how["if_exists"]:
            raise
        return {"sql": "", "tag": f"DROP {kind.upper()}", "notices": []}
    return write(user, Drop(kind, (name_of(item),), how["if_exists"], how["cascade"]))


def made(name: tuple[str, ...], rows: Sequence[reads.ItemRow]) -> str:
    """The id of the item that a write just made."""
    for row in rows:
        if (row.database, row.schema, row.name) == name:
            return row.id
    message = f'unknown item "{dotted(name)}"'
    raise UnknownItem(message)
