"""Whether what reads a materialized view still means the same when its columns change."""

from __future__ import annotations

from catalog.errors import DependentItems, StatementError
from catalog.names import dotted
from catalog.plan.definitions import view_query
from catalog.plan.picture import Entry, Picture, ViewFacts
from catalog.plan.query_body import ANY
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.query.compile import Compiled, compile_query


def still_mean_the_same(scope: Scope, changed: Entry, verb: str) -> None:
    """Raises DependentItems for a view over `changed` that its new columns would alter.

    A view can use a column that is going, or name one without its table that a new one of the
    same name makes ambiguous. `verb` says what is attempted: `replace`, `roll back`.
    """
    before = scope.picture.entries[changed.id]
    if before.relation == changed.relation:
        return
    after = scope.picture.with_entries({changed.id: changed})
    for dependent in scope.picture.dependents(changed.id):
        if dependent.id == changed.id or not _reads(dependent, changed):
            continue
        try:
            same = _compiled(dependent, after, scope.role) == _compiled(
                dependent, scope.picture, scope.role
            )
            why = "its query would mean something else with the other columns"
        except StatementError as error:
            same, why = False, error.message
        if not same:
            message = (
                f'cannot {verb} materialized view "{changed.name}": '
                f'still depended upon by {dependent.kind} "{dependent.name}"'
            )
            detail = f'{dependent.kind} "{dotted(dependent.path)}": {why}'
            hint = "Change the dependent view first."
            raise DependentItems(message, detail=detail, hint=hint)


def _reads(dependent: Entry, changed: Entry) -> bool:
    """Whether the dependent has a query that reads `changed`: its replacements do not."""
    facts = dependent.facts
    target = facts.target if isinstance(facts, ViewFacts) else ""
    return dependent.kind in {"view", "materialized view"} and target != changed.id


def _compiled(entry: Entry, picture: Picture, role: str) -> Compiled:
    return compile_query(view_query(entry.create_sql), ReadableNames(Scope(picture, role)), ANY)
