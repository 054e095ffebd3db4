"""What the steps "tables" and "review" show, from the draft and the source's listing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest

from catalog import reads
from catalog.names import DATABASE, SCHEMA
from catalog.reads import ReferenceColumnRow, SourceRow
from catalog.sql import render_pretty
from catalog.sql.nodes.session import TransactionControl
from catalog.sql.nodes.statement import Statement
from console.wizards import choosing, statements
from console.wizards.choosing import SHOWN, Asked, Line, Tree
from console.wizards.draft import Draft
from console.wizards.listing import Listed, Listing, listing, needs_choice
from console.wizards.state import Choice

Context = dict[str, object]
_RAIL = 8
_REVIEWED = 200


@dataclass(frozen=True)
class ColumnLine:
    """A column of an opened row: `mode` is native, text or exclude."""

    column: ReferenceColumnRow
    mode: str
    todo: bool

    @property
    def must(self) -> bool:
        """Neither a native type nor a faithful text form."""
        return needs_choice(self.column)


def asked(parameters: Mapping[str, str]) -> Asked:
    """What the address or a form says about the view."""
    show = parameters.get("show", "all")
    opened = parameters.get("open")
    return Asked(
        q=parameters.get("q", "").strip()[:100],
        show=show if show in SHOWN else "all",
        open=None if opened is None else frozenset(filter(None, opened.split(","))),
    )


def source_of(draft: Draft) -> SourceRow:
    """The draft's source. Raises Http404 when it was dropped meanwhile."""
    source = draft.source
    if source is None:
        raise Http404
    return source


class Picker:
    """One request's view of a draft: the listing, the choices, and what is there already."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.source = source_of(draft)
        self.listing: Listing = listing(self.source)
        self.already = self._already()
        self.chosen = {k: c for k, c in draft.state.chosen.items() if k in self.listing.by_key}

    def _already(self) -> dict[str, tuple[str, ...]]:
        if not self.source.tables:
            return {}
        made = reads.made_from(self.source.item.id)
        keys = {(row.namespace, row.name): row.key for row in self.listing.rows}
        return {keys[path]: tuple(names) for path, names in made.items() if path in keys}

    def taken(self) -> set[str]:
        """Names that new tables cannot have."""
        return {i.name for i in reads.items() if (i.database, i.schema) == (DATABASE, SCHEMA)}

    def tree(self, view: Asked) -> Tree:
        """Schemas and their open rows."""
        return choosing.tree(self.listing, self.chosen, view, self.already)

    def line(self, row: Listed) -> Line:
        """One row as it is now."""
        return Line(row, self.chosen.get(row.key), self.already.get(row.key, ()))

    def ordered(self) -> list[tuple[Listed, Choice]]:
        """The choices in the listing's order."""
        return [(r, self.chosen[r.key]) for r in self.listing.rows if r.key in self.chosen]

    def sql(self) -> str:
        """The text that Create executes."""
        return statements.transaction(
            statements.create_table(self.source.item, row, choice)
            for row, choice in self.ordered()
        )

    def excerpt(self, limit: int) -> tuple[str, int]:
        """The first statements of that text, and how many more there are."""
        ordered = self.ordered()
        if len(ordered) <= limit:
            return (self.sql() if ordered else "", 0)
        nodes = (statements.create_table(self.source.item, r, c) for r, c in ordered[:limit])
        shown: list[Statement] = [TransactionControl("begin"), *nodes]
        return "\n\n".join(map(render_pretty, shown)), len(ordered) - limit

    def columns(self, row: Listed) -> list[ColumnLine]:
        """The row's columns, those that need a decision first."""
        chosen = self.chosen.get(row.key)
        choice = chosen or row.default()
        lines = [_column(column, choice, chosen is not None) for column in row.row.columns]
        return sorted(lines, key=lambda line: not line.must)


def _column(column: ReferenceColumnRow, choice: Choice, chosen: bool) -> ColumnLine:  # noqa: FBT001
    mode = "native"
    if column.name in choice.exclude:
        mode = "exclude"
    elif column.name in choice.text:
        mode = "text"
    todo = chosen and mode == "native" and needs_choice(column)
    return ColumnLine(column, mode, todo)


def side(picker: Picker) -> Context:
    """The rail, the foot and the filters' counts."""
    sql, more = picker.excerpt(_RAIL)
    waiting = (picker.line(row) for row, _ in picker.ordered())
    return {
        "base": f"/sources/new/{picker.draft.id}",
        "source": picker.source,
        "totals": choosing.totals(picker.listing, picker.chosen),
        "all_count": len(picker.listing.rows),
        "schema_count": len(picker.listing.namespaces),
        "new_count": picker.listing.new,
        "waiting": [line for line in waiting if line.undecided][:3],
        "sql": sql,
        "more": more,
    }


def rows(picker: Picker, view: Asked) -> Context:
    """The tree."""
    return {"tree": picker.tree(view), "q": view.q, "show": view.show, "view": view}


def context(request: HttpRequest, draft: Draft) -> Context:
    """The step "tables"."""
    picker = Picker(draft)
    view = asked(request.GET.dict())
    return {**side(picker), **rows(picker, view), "listed_at": picker.source.references_updated_at}


def review(request: HttpRequest, draft: Draft) -> Context:
    """The step "review": the whole text, but for a very long one, of which Copy has the rest."""
    picker = Picker(draft)
    sql, more = picker.excerpt(_REVIEWED)
    return {**side(picker), "sql": sql, "more": more, "lines": map(picker.line, _refs(picker))}


def _refs(picker: Picker) -> list[Listed]:
    return [row for row, _ in picker.ordered()][:_REVIEWED]
