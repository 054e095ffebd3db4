"""Secrets: made, rotated, dropped; never shown."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.reads import ItemRow
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from console.pages.items import Blast, blast, name_of
from console.pages.request import run
from console.visitor import signed_in
from ingest.errors import HeadraceError


@dataclass(frozen=True)
class SecretLine:
    """A secret and what its drop would take; `dialog` is that dialog's DOM id."""

    item: ItemRow
    drop: Blast

    @property
    def dialog(self) -> str:
        """`drop-u7`."""
        return f"drop-{self.item.id}"


@sensitive_post_parameters("value")
@signed_in
def secret_list(request: HttpRequest) -> HttpResponse:
    """All secrets; a POST makes one."""
    if request.method == "POST":
        return _create(request)
    return _page(request, {"show_new": "new" in request.GET})


def _create(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    try:
        run(request, CreateSecret(Name((name,)), request.POST.get("value", "")))
    except HeadraceError as error:
        return _page(request, {"error": error, "name": name})
    messages.success(request, f"Created secret {name}")
    return redirect("/secrets")


@sensitive_post_parameters("value")
@require_POST
@signed_in
def rotate(request: HttpRequest) -> HttpResponse:
    """Give a secret a new value."""
    item = next((i for i in reads.secrets() if i.id == request.POST.get("id")), None)
    if item is None:
        return redirect("/secrets")
    try:
        run(request, AlterSecret(name_of(item), request.POST.get("value", "")))
    except HeadraceError as error:
        return _page(request, {"error": error})
    messages.success(request, f"Rotated secret {item.name}")
    return redirect("/secrets")


def _page(request: HttpRequest, extra: dict[str, object]) -> HttpResponse:
    rows = [_line(item) for item in reads.secrets()]
    return render(request, "secrets/list.html", {"rows": rows, **extra})


def _line(item: ItemRow) -> SecretLine:
    return SecretLine(item, blast(item, reads.dependents(item.id)))
