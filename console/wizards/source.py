"""Step 2: the source's name and publication. Its references exist only once it does."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.errors import DuplicateItem
from catalog.sql import render_pretty
from console.fragments.checks import checks_of_error
from console.visitor import signed_in
from console.wizards import draft as drafting
from console.wizards import statements
from console.wizards.page import render_step
from ingest.errors import HeadraceError


@require_POST
@signed_in
def submit(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Create the empty source and go on to its tables."""
    draft = drafting.load(request, draft_id)
    connection = draft.connection
    if connection is None:
        return redirect(f"/sources/new/{draft.id}?step=connection")
    name = request.POST.get("name", "").strip()
    typed = request.POST.get("publication_typed", "").strip()
    publication = typed or request.POST.get("publication", "").strip()
    draft.state.name, draft.state.publication = name, publication
    draft.save()
    if not name or not publication:
        wrong = "name" if not name else "publication"
        return render_step(request, draft, "source", {"wrong": {wrong: "This is needed."}})
    try:
        node = statements.create_postgres_source(name, connection, publication)
        draft.run(render_pretty(node))
    except DuplicateItem as error:
        return render_step(request, draft, "source", {"wrong": {"name": error.message}})
    except HeadraceError as error:
        checks = checks_of_error(error)
        extra = {"checks": checks, "error": None if checks else error}
        return render_step(request, draft, "source", extra)
    made = [row for row in reads.sources() if row.item.name == name]
    draft.state.source = made[-1].item.id if made else ""
    draft.save()
    return redirect(f"/sources/new/{draft.id}?step=tables")
