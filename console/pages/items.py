"""What is the same for every kind of item: its page's path, its objects' tree, dropping it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from sqlglot import exp

from catalog import reads
from catalog.names import DATABASE, SCHEMA
from catalog.reads import ItemRow
from catalog.sql import parse_one, render_pretty
from catalog.sql import render as render_statement
from catalog.sql.nodes.item import Drop
from catalog.sql.nodes.names import ItemKind, Name
from catalog.sql.nodes.query import Select
from catalog.sql.render import identifier
from console.pages.request import run, signed_in
from ingest.errors import HeadraceError

ICONS = {
    "secret": "key-round",
    "connection": "plug",
    "source": "log-in",
    "table": "table-2",
    "view": "view",
}
_PAGES = {"secret": "/secrets", "connection": "/connections", "source": "/sources"}
_KINDS: dict[str, ItemKind] = {
    "secret": "secret",
    "connection": "connection",
    "source": "source",
    "table": "table",
    "view": "view",
}


@dataclass(frozen=True)
class Entry:
    """An item with the path of its page."""

    item: ItemRow
    path: str
    icon: str


def path_of(item: ItemRow) -> str:
    """The item's own page."""
    if item.kind == "secret":
        return "/secrets"
    places = {"connection": "connections", "source": "sources", "table": "tables"}
    return f"/{places.get(item.kind, 'objects')}/{item.id}"


def entry(item: ItemRow) -> Entry:
    """The item as lists show it."""
    return Entry(item, path_of(item), ICONS.get(item.kind, "box"))


def name_of(item: ItemRow) -> Name:
    """The item's name, as short as it is still certain."""
    if (item.database, item.schema) == (DATABASE, SCHEMA):
        return Name((item.name,))
    return Name((item.database, item.schema, item.name))


def select_from(item: ItemRow, limit: int) -> Select:
    """`SELECT * FROM item LIMIT n`."""
    parts = [_identifier(part) for part in reversed(name_of(item).parts)]
    table = exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))
    query = exp.select("*").from_(table).limit(limit)
    return Select(query, text=query.sql(dialect="postgres"))


def _identifier(part: str) -> exp.Identifier:
    return exp.Identifier(this=part, quoted=identifier(part) != part)


def definition(item: ItemRow) -> str:
    """The item's statement over several lines, without secrets' values."""
    try:
        return render_pretty(parse_one(item.redacted_sql).statement)
    except HeadraceError:
        return item.redacted_sql


def select_all(item: ItemRow) -> str:
    """What the Query button puts into the shell."""
    return f"{select_from(item, 100).text};"


def drop_context(item: ItemRow) -> dict[str, object]:
    """What the drop dialog shows."""
    dependents = reads.dependents(item.id)
    statement = Drop(_KINDS[item.kind], (name_of(item),), cascade=bool(dependents))
    return {
        "dependents": dependents,
        "definition": definition(item),
        "action": f"/items/{item.id}/drop",
        "drop_path": f"/items/{item.id}/drop",
        "drop_sql": f"{render_statement(statement)};",
    }


def _item(item_id: str) -> ItemRow:
    found = reads.item(item_id)
    if found is None:
        raise Http404
    return found


@require_POST
@signed_in
def drop(request: HttpRequest, item_id: str) -> HttpResponse:
    """Drop an item and what depends on it, as its dialog said."""
    item = _item(item_id)
    cascade = bool(reads.dependents(item.id))
    try:
        run(request, Drop(_KINDS[item.kind], (name_of(item),), cascade=cascade))
    except HeadraceError as error:
        messages.error(request, f"{error.message}. {error.hint or ''}")
        return redirect(path_of(item))
    messages.success(request, f"Dropped {item.kind} {item.name}")
    return redirect(_PAGES.get(item.kind, "/tables" if item.kind == "table" else "/objects"))


@signed_in
def objects(request: HttpRequest) -> HttpResponse:
    """Every item by database and schema."""
    found = sorted(reads.items(), key=lambda item: (item.database, item.schema, item.name))
    tree = [
        (
            database,
            [
                (schema, [entry(item) for item in members])
                for schema, members in groupby(list(group), key=lambda item: item.schema)
            ],
        )
        for database, group in groupby(found, key=lambda item: item.database)
    ]
    return render(request, "objects/page.html", {"tree": tree})


@signed_in
def object_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """An item without a page of its own kind: a view."""
    item = _item(item_id)
    if item.kind != "view":
        return redirect(path_of(item))
    context = {"item": item, "query": select_all(item), **drop_context(item)}
    return render(request, "objects/view.html", context)


@signed_in
def palette(request: HttpRequest) -> HttpResponse:
    """The palette's list of items, fetched when it first opens."""
    return render(request, "objects/palette.html", {"entries": map(entry, reads.items())})
