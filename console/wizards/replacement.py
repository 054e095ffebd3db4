"""A new definition for a view that is there: the editor starts with the present one."""

from __future__ import annotations

from collections.abc import Set

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.errors import InvalidStatement
from catalog.reads import ColumnRow, ViewRow
from catalog.reads import views as maintained
from catalog.sql import render_pretty
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.replacement import CreateReplacement
from console import execute
from console.fragments.definition import query_of
from console.fragments.guarding import Typed, typed
from console.fragments.schema import schema
from console.visitor import signed_in, user_of
from console.wizards.definition import check_page, known_columns, rows_page
from console.wizards.preview import Build, Foreseen, foresee, query_in, wrong
from console.wizards.statements import name_of
from ingest.contract.relation import Relation
from ingest.errors import HeadraceError


def _target(item_id: str) -> ViewRow:
    found = maintained.view(item_id)
    if found is None or found.target is not None:
        raise Http404
    return found


@signed_in
def new_replacement(request: HttpRequest, item_id: str) -> HttpResponse:
    """The editor on a view's definition. A POST makes the replacement."""
    target = _target(item_id)
    if request.method == "POST":
        return _create(request, target)
    sql = request.GET.get("sql", "").strip().rstrip(";") or query_of(target.item.create_sql)
    taken = {item.name for item in reads.items()}
    return _page(request, target, {"sql": sql, "name": _free(target.item.name, taken)})


def _free(name: str, taken: Set[str]) -> str:
    candidates = (f"{name}_next", *(f"{name}_next_{n}" for n in range(2, len(taken) + 3)))
    return next(one for one in candidates if one not in taken)


def _page(request: HttpRequest, target: ViewRow, more: dict[str, object]) -> HttpResponse:
    context = {
        "target": target,
        "schema": known_columns(),
        "guard": typed({}).fields,
        "check_path": f"/views/{target.item.id}/replace/check",
        **more,
    }
    return render(request, "wizards/replacement.html", context)


def _build(request: HttpRequest, target: ViewRow, guard: Typed) -> Build:
    name = request.POST.get("name", "").strip()
    item = target.item

    def build(select: Select, text: str) -> CreateReplacement:
        if not name:
            raise InvalidStatement("give the replacement a name", sqlstate="42602")
        beside = name_of(item).parts[:-1]
        return CreateReplacement(
            Name((*beside, name)),
            name_of(item),
            select.query,
            text=text.strip().rstrip(";"),
            options=guard.options,
            body=select.body,
        )

    return build


@require_POST
@signed_in
def check(request: HttpRequest, item_id: str) -> HttpResponse:
    """Whether the text as it is now could take the view's place."""
    target = _target(item_id)
    guard = typed(request.POST.dict())
    foreseen = foresee(
        user_of(request), request.POST.get("sql", ""), _build(request, target, guard)
    )
    more = {
        "rows_path": f"/views/{item_id}/replace/rows",
        "what": "replacement",
        "target": target,
        "fits": _fits(target, foreseen),
        "guard_wrong": guard.wrong,
    }
    return check_page(request, foreseen, more)


def _fits(target: ViewRow, foreseen: Foreseen) -> object:
    if foreseen.relation is None:
        return None
    return schema(target.columns, _columns(foreseen.relation, target))


def _columns(relation: Relation, target: ViewRow) -> list[ColumnRow]:
    """The columns as a view would have them: what may be NULL is said by the view made of it."""
    nullable = {column.name: column.nullable for column in target.columns}
    return [
        ColumnRow(column.name, column.type.sql, nullable.get(column.name, True), position)
        for position, column in enumerate(relation.columns, start=1)
    ]


@require_POST
@signed_in
def rows(request: HttpRequest, item_id: str) -> HttpResponse:
    """The first rows of the query as it is now."""
    return rows_page(request)


def _create(request: HttpRequest, target: ViewRow) -> HttpResponse:
    text, name = request.POST.get("sql", ""), request.POST.get("name", "").strip()
    guard = typed(request.POST.dict())
    again = {"sql": text, "name": name, "guard": guard.fields, "wrong_guard": guard.wrong}
    if guard.wrong:
        return _page(request, target, again)
    try:
        statement = _build(request, target, guard)(query_in(text), text)
        for outcome in execute.run(user_of(request), render_pretty(statement)):
            if isinstance(outcome, HeadraceError):
                raise outcome
    except HeadraceError as error:
        return _page(request, target, {**again, "wrong": wrong(error, text, in_text=False)})
    waiting = maintained.replacements(target.item.id)
    made = next(row for row in reversed(waiting) if row.item.name == name)
    messages.success(request, f"{name} hydrates beside {target.item.name}")
    return redirect(f"/replacements/{made.item.id}")
