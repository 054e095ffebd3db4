"""The ways into a wizard: which kind, a new draft, an old one, the demo, a load generator."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from catalog import reads
from catalog.sql import render_pretty
from console.demo import start_demo
from console.visitor import signed_in, user_of
from console.wizards import choosing, picker, statements
from console.wizards import draft as drafting
from console.wizards.draft import Draft
from console.wizards.page import render_step
from console.wizards.state import STEPS, WizardState
from ingest.errors import HeadraceError


@dataclass(frozen=True)
class GeneratorCard:
    """A load generator as the first page offers it."""

    kind: str
    title: str
    text: str


GENERATORS = (
    GeneratorCard("auction", "Auction house", "Users, auctions and bids, one bid a second."),
    GeneratorCard("counter", "Counter", "One number that grows: the smallest thing that moves."),
    GeneratorCard("tpch", "TPC-H", "The eight tables of the benchmark, with orders coming in."),
    GeneratorCard("key value", "Key value", "Keys with ever new values, by partition."),
)


@require_GET
@signed_in
def kinds(request: HttpRequest) -> HttpResponse:
    """What a source can be."""
    return render(request, "wizards/kind.html", {"generators": GENERATORS})


@signed_in
def begin(request: HttpRequest) -> HttpResponse:
    """A new draft; `?connection=` has it chosen already."""
    known = {item.id for item in reads.items() if item.kind == "connection"}
    chosen = request.GET.get("connection", "")
    state = WizardState(connection=chosen if chosen in known else "")
    draft = drafting.begin(user_of(request), state)
    step = "source" if state.connection else "connection"
    return redirect(f"/sources/new/{draft.id}?step={step}")


@require_GET
@signed_in
def more_tables(request: HttpRequest) -> HttpResponse:
    """Choose (more) tables of a source that is there."""
    draft = drafting.of_source(user_of(request), request.GET.get("source", ""))
    return redirect(f"/sources/new/{draft.id}?step=tables")


@require_GET
@signed_in
def resume(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """A draft at the step in the address, or at the furthest it has reached."""
    finished = drafting.finished(request, draft_id)
    if finished:
        return redirect(finished)
    draft = drafting.load(request, draft_id)
    state = draft.state
    if state.source and draft.source is None:
        state.source = ""
        draft.save()
    if state.connection and not state.source and draft.connection is None:
        state.connection = ""
        draft.save()
    step = request.GET.get("step", state.reached)
    furthest = "review" if state.source else state.reached
    if step not in STEPS or STEPS.index(step) > STEPS.index(furthest):
        step = state.reached
    return render_step(request, draft, step, {})


@require_POST
@signed_in
def discard(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Forget a draft; what it made stays."""
    drafting.end(drafting.load(request, draft_id))
    return redirect("/sources")


@require_POST
@signed_in
def demo(request: HttpRequest) -> HttpResponse:
    """Ask for the demo's PostgreSQL and begin the real wizard on it."""
    user = user_of(request)
    start_demo(user)
    draft = drafting.begin(user, WizardState(demo=True))
    return redirect(f"/sources/new/{draft.id}?step=connection")


@require_POST
@signed_in
def generator(request: HttpRequest) -> HttpResponse:
    """One click: the source, and a table for everything it offers."""
    kind = request.POST.get("kind", "")
    if kind not in {card.kind for card in GENERATORS}:
        return redirect("/sources/new")
    taken = {item.name for item in reads.items()}
    base = kind.replace(" ", "_")
    names = (base, *(f"{base}_{number}" for number in range(2, len(taken) + 3)))
    name = next(name for name in names if name not in taken)
    user = user_of(request)
    draft = Draft(uuid.uuid4(), user, WizardState(name=name))
    try:
        draft.run(render_pretty(statements.create_generator_source(name, kind)))
        source = next(row for row in reads.sources() if row.item.name == name)
        draft.state.source = source.item.id
        found = picker.Picker(draft)
        choosing.add(found.chosen, found.listing.rows, found.taken())
        draft.run(found.sql())
    except HeadraceError as error:
        messages.error(request, f"{error.message}. {error.hint or ''}")
        return redirect("/sources/new")
    return redirect(f"/sources/{source.item.id}")
