"""Step 4: the text is shown, and exactly that text is executed, as one transaction."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console.fragments.checks import checks_of_error
from console.visitor import signed_in
from console.wizards import draft as drafting
from console.wizards.page import render_step
from console.wizards.picker import Picker
from ingest.errors import HeadraceError


@require_POST
@signed_in
def create(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Create the tables and go where they can be watched."""
    finished = drafting.finished(request, draft_id)
    if finished:
        return redirect(finished)
    draft = drafting.load(request, draft_id)
    picker = Picker(draft)
    if not picker.chosen or any(picker.line(row).undecided for row, _ in picker.ordered()):
        return redirect(f"/sources/new/{draft.id}?step=tables&show=attention")
    try:
        draft.run(picker.sql())
    except HeadraceError as error:
        if not drafting.open_still(draft):
            return redirect(f"/sources/{picker.source.item.id}")
        checks = checks_of_error(error)
        return render_step(request, draft, "review", {"checks": checks, "error": error})
    path = f"/sources/{picker.source.item.id}"
    drafting.finish(request, draft, path)
    count = len(picker.chosen)
    messages.success(request, f"Created {count:,} table{'' if count == 1 else 's'}")
    return redirect(path)
