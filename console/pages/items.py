"""What is the same for every kind of item: its page's path, its objects' tree, dropping it."""

from __future__ import annotations

from collections.abc import Sequence
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
from catalog.sql.nodes.item import Drop, Rename
from catalog.sql.nodes.names import ItemKind, Name
from catalog.sql.nodes.query import Select
from catalog.sql.render import identifier
from console.fragments.definition import whole
from console.fragments.places import Entry as Entry
from console.fragments.places import entry as entry
from console.fragments.places import path_of as path_of
from console.pages.request import run
from console.visitor import signed_in
from ingest.errors import HeadraceError

_PAGES = {
    "secret": "/secrets",
    "connection": "/connections",
    "source": "/sources",
    "table": "/tables",
    "materialized view": "/views",
}
_KINDS: dict[str, ItemKind] = {
    "secret": "secret",
    "connection": "connection",
    "source": "source",
    "table": "table",
    "view": "view",
    "materialized view": "materialized view",
}


_NAMED = 8


@dataclass(frozen=True)
class Blast:
    """All that one drop takes with it: some dependents by name, `more` beyond them, and words."""

    item: ItemRow
    named: tuple[ItemRow, ...]
    more: int
    words: tuple[str, ...]
    sql: str

    @property
    def count(self) -> int:
        """Items that go."""
        return 1 + len(self.named) + max(0, self.more)


def name_of(item: ItemRow) -> Name:
    """The item's name, as short as it is still certain."""
    if (item.database, item.schema) == (DATABASE, SCHEMA):
        return Name((item.name,))
    return Name((item.database, item.schema, item.name))


def select_from(item: ItemRow, limit: int, newest: Sequence[str] = ()) -> Select:
    """`SELECT * FROM item LIMIT n`; with `newest`, the highest values of those columns first."""
    parts = [_identifier(part) for part in reversed(name_of(item).parts)]
    table = exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))
    order = [
        exp.Ordered(this=exp.Column(this=_identifier(name)), desc=True, nulls_first=True)
        for name in newest
    ]
    query = exp.select("*").from_(table)
    query = (query.order_by(*order) if order else query).limit(limit)
    return Select(query, text=query.sql(dialect="postgres"))


def _identifier(part: str) -> exp.Identifier:
    return exp.Identifier(this=part, quoted=identifier(part) != part)


def definition(item: ItemRow) -> str:
    """The item's statement over several lines, without secrets' values."""
    try:
        if item.kind in {"view", "materialized view"}:
            return whole(item.redacted_sql)
        return render_pretty(parse_one(item.redacted_sql).statement)
    except HeadraceError:
        return item.redacted_sql


def select_all(item: ItemRow, newest: Sequence[str] = ()) -> str:
    """What the Query button puts into the shell."""
    return f"{select_from(item, 100, newest).text};"


def drop_context(item: ItemRow) -> dict[str, object]:
    """What the dialogs that drop and rename an item show."""
    dependents = reads.dependents(item.id)
    return {
        "dependents": dependents,
        "definition": definition(item),
        "drop": blast(item, dependents),
    }


def blast(item: ItemRow, dependents: Sequence[ItemRow]) -> Blast:
    """What goes with the item, and the statement that drops all of it."""
    statement = Drop(_KINDS[item.kind], (name_of(item),), cascade=bool(dependents))
    return Blast(
        item,
        tuple(dependents[:_NAMED]),
        len(dependents) - _NAMED,
        _consequences(item, dependents),
        f"{render_statement(statement)};",
    )


def _consequences(item: ItemRow, dependents: Sequence[ItemRow]) -> tuple[str, ...]:
    """What a drop does beyond the catalog's rows, in words."""
    going = {item.id, *(other.id for other in dependents)}
    words = []
    tables = item.kind == "table" or any(other.kind == "table" for other in dependents)
    if tables:
        words.append("Their copied rows here are deleted. Nothing is deleted upstream.")
    kept = "materialized view"
    if item.kind == kept or any(other.kind == kept for other in dependents):
        words.append("The rows that were kept are deleted, with every earlier version of them.")
    for feed in reads.feeds():
        if going.issuperset(feed.sources) and feed.sources and feed.slot:
            words.append(
                f"Replication slot {feed.slot} is dropped upstream: nothing else reads it."
            )
        elif going.intersection(feed.sources) and feed.slot:
            words.append(f"Replication slot {feed.slot} stays: another source reads it.")
    return tuple(words)


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
    return redirect(_PAGES.get(item.kind, "/objects"))


@require_POST
@signed_in
def rename(request: HttpRequest, item_id: str) -> HttpResponse:
    """Give an item another name; what refers to it keeps referring to it."""
    item = _item(item_id)
    wanted = request.POST.get("name", "").strip()
    if not wanted or wanted == item.name:
        return redirect(path_of(item))
    try:
        run(request, Rename(_KINDS[item.kind], name_of(item), wanted))
    except HeadraceError as error:
        messages.error(request, f"{error.message}. {error.hint or ''}")
        return redirect(path_of(item))
    messages.success(request, f"Renamed {item.kind} {item.name} to {wanted}")
    return redirect(path_of(item))


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
