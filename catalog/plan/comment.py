"""COMMENT ON."""

from __future__ import annotations

from catalog.errors import InvalidStatement
from catalog.plan.operations import SetComment
from catalog.plan.plans import Change
from catalog.plan.scope import Scope
from catalog.sql.nodes.comment import CommentOn


def comment_on(statement: CommentOn, scope: Scope) -> Change:
    """A comment on an item or on one of its columns; NULL takes it away."""
    if statement.kind is not None:
        entry = scope.item(statement.name, statement.kind)
        return Change("COMMENT", (SetComment(entry, statement.text),), touches=(entry,))
    entry = scope.item(statement.name)
    names = entry.relation.names
    if statement.column not in names:
        message = f'column "{entry.name}.{statement.column}" does not exist'
        raise InvalidStatement(message, sqlstate="42703")
    position = names.index(statement.column) + 1
    return Change("COMMENT", (SetComment(entry, statement.text, position),), touches=(entry,))
