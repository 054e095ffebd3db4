"""Step 1: where the upstream is and how to enter it; what was found there, item by item."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from catalog import reads
from catalog.errors import DuplicateItem
from catalog.sql import render_pretty
from catalog.sql.nodes.connection import ValidateConnection
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from console.demo import demo_status
from console.fragments.checks import checks_of_error, checks_of_results
from console.visitor import signed_in
from console.wizards import draft as drafting
from console.wizards import statements
from console.wizards.draft import Draft
from console.wizards.forms import ConnectionForm
from console.wizards.page import render_step
from ingest.errors import HeadraceError


@sensitive_post_parameters("password")
@require_POST
@signed_in
def submit(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Take an existing connection or make one, then look at its upstream."""
    draft = drafting.load(request, draft_id)
    picked = request.POST.get("existing", "")
    if picked:
        return _existing(request, draft, picked)
    form = ConnectionForm(request.POST)
    draft.state.fields = _plain(request)
    draft.save()
    if not form.is_valid():
        return render_step(request, draft, "connection", {"form": form})
    return _create(request, draft, form)


@require_POST
@signed_in
def remember(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Save what is typed so far, but for the password."""
    draft = drafting.load(request, draft_id)
    draft.state.fields = _plain(request)
    draft.save()
    return HttpResponse(status=204)


def _plain(request: HttpRequest) -> dict[str, str]:
    kept = [name for name in ConnectionForm.base_fields if name != "password"]
    return {name: request.POST.get(name, "").strip() for name in kept}


def _existing(request: HttpRequest, draft: Draft, picked: str) -> HttpResponse:
    item = next((i for i in reads.items() if i.id == picked and i.kind == "connection"), None)
    if item is None:
        return redirect(f"/sources/new/{draft.id}?step=connection")
    draft.state.connection = item.id
    draft.state.checks = []
    return _validate(request, draft, statements.name_of(item))


def _create(request: HttpRequest, draft: Draft, form: ConnectionForm) -> HttpResponse:
    fields = {key: str(value) for key, value in form.cleaned_data.items()}
    password = fields.pop("password")
    if draft.state.demo and not password:
        password = demo_status().password
    draft.state.checks = []
    try:
        _keep_secret(draft, fields["name"], password)
        statement = statements.create_connection(fields, draft.state.secret)
        draft.run(render_pretty(statement))
    except DuplicateItem as error:
        form.add_error("name", error.message)
        return render_step(request, draft, "connection", {"form": form})
    except HeadraceError as error:
        draft.state.checks = list(checks_of_error(error))
        draft.save()
        told = None if draft.state.checks else error
        return render_step(request, draft, "connection", {"form": form, "error": told})
    made = [i for i in reads.items() if i.kind == "connection" and i.name == fields["name"]]
    draft.state.connection = made[-1].id if made else ""
    return _validate(request, draft, Name((fields["name"],)))


def _keep_secret(draft: Draft, connection: str, password: str) -> None:
    """Put the password into the draft's secret: made at the first try, changed at later ones."""
    if not password:
        return
    names = {item.name for item in reads.items()}
    if draft.state.secret in names:
        draft.run(render_pretty(AlterSecret(Name((draft.state.secret,)), password)))
        return
    wanted = f"{connection}_password"
    candidates = (wanted, *(f"{wanted}_{number}" for number in range(2, len(names) + 3)))
    free = next(name for name in candidates if name not in names)
    draft.run(render_pretty(CreateSecret(Name((free,)), password)))
    draft.state.secret = free
    draft.save()


def _validate(request: HttpRequest, draft: Draft, name: Name) -> HttpResponse:
    try:
        outcomes = draft.run(render_pretty(ValidateConnection(name)))
        draft.state.checks = list(checks_of_results(outcomes))
    except HeadraceError as error:
        draft.state.checks = list(checks_of_error(error))
        draft.save()
        told = None if draft.state.checks else error
        return render_step(request, draft, "connection", {"error": told})
    draft.save()
    return redirect(f"/sources/new/{draft.id}?step=connection")


@require_POST
@signed_in
def another(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Put the chosen connection aside and choose again."""
    draft = drafting.load(request, draft_id)
    draft.state.connection = ""
    draft.state.secret = ""
    draft.state.checks = []
    draft.state.fields = {}
    draft.save()
    return redirect(f"/sources/new/{draft.id}?step=connection")


@require_GET
@signed_in
def demo(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Asked every second while the demo's database starts: draws the page anew when it has."""
    drafting.load(request, draft_id)
    if demo_status().state == "starting":
        return HttpResponse(status=204)
    return HttpResponse(status=204, headers={"HX-Refresh": "true"})
