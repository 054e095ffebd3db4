"""The wizard's draft: loaded, saved at every change, ended when its tables are made."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpRequest

from catalog import drafts, reads
from catalog.reads import ItemRow, SourceRow
from catalog.results import Result
from console import execute
from console.visitor import user_of
from console.wizards.state import KIND, WizardState
from ingest.errors import HeadraceError

_FINISHED = "finished drafts"
_REMEMBERED = 20


@dataclass
class Draft:
    """A wizard in progress, with the catalog's rows that it refers to."""

    id: uuid.UUID
    user: Any
    state: WizardState
    updated_at: dt.datetime | None = None
    _source: SourceRow | None = field(default=None, repr=False)

    def save(self) -> None:
        """Keep the answers so far."""
        drafts.save(self.user, self.id, state=self.state.to_json(), title=self.title)

    @property
    def title(self) -> str:
        """What the list of drafts calls it."""
        source = self.source
        if source is not None:
            return drafts.tables_of(source.item.name)
        return self.state.name or self.state.fields.get("name", "") or "New PostgreSQL source"

    @property
    def connection(self) -> ItemRow | None:
        """The connection, if it exists (still)."""
        item = reads.item(self.state.connection) if self.state.connection else None
        return item if item is not None and item.kind == "connection" else None

    @property
    def source(self) -> SourceRow | None:
        """The source, if it exists (still); read once per request."""
        if self._source is None or self._source.item.id != self.state.source:
            self._source = reads.source(self.state.source) if self.state.source else None
        return self._source

    def run(self, text: str) -> list[Result]:
        """Execute exactly this text as the draft's user. Raises the first error."""
        results: list[Result] = []
        for outcome in execute.run(self.user, text):
            if isinstance(outcome, HeadraceError):
                raise outcome
            results.append(outcome)
        return results


def begin(user: Any, state: WizardState) -> Draft:
    """A new draft."""
    row = drafts.create(user, KIND, state=state.to_json())
    draft = Draft(row.id, user, state, row.updated_at)
    draft.save()
    return draft


def load(request: HttpRequest, draft_id: uuid.UUID) -> Draft:
    """The user's own draft. Raises Http404 for any other."""
    user = user_of(request)
    row = drafts.get(user, draft_id)
    if row is None or row.kind != KIND:
        raise Http404
    return Draft(row.id, user, WizardState.from_json(row.state), row.updated_at)


def of_source(user: Any, source_id: str) -> Draft:
    """The user's open draft for more tables of a source, or a new one."""
    for row in drafts.open_drafts(user):
        if row.kind == KIND and row.state.get("source") == source_id:
            return Draft(row.id, user, WizardState.from_json(row.state), row.updated_at)
    source = reads.source(source_id)
    if source is None:
        raise Http404
    connection = source.connection.id if source.connection else ""
    state = WizardState(connection=connection, source=source_id, name=source.item.name)
    return begin(user, state)


def end(draft: Draft) -> None:
    """The draft is done with."""
    drafts.discard(draft.user, draft.id)


def open_still(draft: Draft) -> bool:
    """Whether nobody has finished or discarded it meanwhile: a second click, another tab."""
    return drafts.get(draft.user, draft.id) is not None


def finish(request: HttpRequest, draft: Draft, path: str) -> None:
    """The draft has become what `path` shows: going back to the draft leads there."""
    end(draft)
    known = list(request.session.get(_FINISHED, {}).items())[-_REMEMBERED:]
    request.session[_FINISHED] = {**dict(known), str(draft.id): path}


def finished(request: HttpRequest, draft_id: uuid.UUID) -> str:
    """Where this visitor's finished draft leads; empty for any other."""
    return str(request.session.get(_FINISHED, {}).get(str(draft_id), ""))
