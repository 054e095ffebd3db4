"""Materialized views, their replacements, and comments."""

from __future__ import annotations

from catalog.sql.clauses.rows import query_text
from catalog.sql.clauses.style import (
    Style,
    name_of,
    option_clause,
    when,
    with_columns,
    words,
)
from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.comment import CommentOn
from catalog.sql.nodes.materialized_view import CreateMaterializedView, Refresh
from catalog.sql.nodes.replacement import (
    ApplyReplacement,
    CreateReplacement,
    RollbackReplacement,
    SetGuard,
    ShowChanges,
)
from catalog.sql.strings import identifier, literal


def create_materialized_view(s: CreateMaterializedView, style: Style) -> list[Clause]:
    """Clauses of CreateMaterializedView."""
    create = words("CREATE", when(s.or_replace, "OR REPLACE"), "MATERIALIZED VIEW")
    head = words(create, when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))
    return [with_columns(head, s.columns), *_rest(s, style)]


def create_replacement(s: CreateReplacement, style: Style) -> list[Clause]:
    """Clauses of CreateReplacement."""
    create = "CREATE REPLACEMENT MATERIALIZED VIEW"
    head = words(create, when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))
    return [with_columns(head, s.columns), name_of(s.target, "FOR"), *_rest(s, style)]


def _rest(s: CreateMaterializedView | CreateReplacement, style: Style) -> list[Clause]:
    """What follows the names: where it runs, its options, its query."""
    refresh = [_refresh(one, style) for one in s.refresh]
    options = (*refresh, *(option_clause(option, style) for option in s.options))
    return [
        name_of(s.cluster, "IN CLUSTER"),
        Group("WITH", options) if options else "",
        f"AS {query_text(s, style)}",
    ]


def _refresh(refresh: Refresh, style: Style) -> str:
    value = literal(refresh.value) if refresh.value else ""
    aligned = f"ALIGNED TO {literal(refresh.aligned_to)}" if refresh.aligned_to else ""
    return f"REFRESH{style.equals}" + words(refresh.kind.upper(), value, aligned)


def apply_replacement(s: ApplyReplacement, _: Style) -> list[Clause]:
    """Clauses of ApplyReplacement."""
    head = words("ALTER MATERIALIZED VIEW", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    return [words(head, name_of(s.replacement, "APPLY REPLACEMENT"))]


def rollback_replacement(s: RollbackReplacement, _: Style) -> list[Clause]:
    """Clauses of RollbackReplacement."""
    head = words("ALTER MATERIALIZED VIEW", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    return [words(head, "ROLLBACK REPLACEMENT")]


def set_guard(s: SetGuard, style: Style) -> list[Clause]:
    """Clauses of SetGuard."""
    head = words("ALTER MATERIALIZED VIEW", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    return [head, Group("SET", tuple(option_clause(option, style) for option in s.options))]


def show_changes(s: ShowChanges, _: Style) -> list[Clause]:
    """Clauses of ShowChanges."""
    limit = f"LIMIT {s.limit}" if s.limit is not None else ""
    return [words(name_of(s.name, "SHOW CHANGES FOR REPLACEMENT"), limit)]


def comment_on(s: CommentOn, _: Style) -> list[Clause]:
    """Clauses of CommentOn."""
    what = words((s.kind or "column").upper(), name_of(s.name))
    column = f".{identifier(s.column)}" if s.kind is None else ""
    text = "NULL" if s.text is None else literal(s.text)
    return [f"COMMENT ON {what}{column} IS {text}"]
