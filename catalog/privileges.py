"""Who may do what: asked once for every plan, before anything happens.

Owners and superusers may do everything with an item; every role of the region may read. Grants
refine this later, here.
"""

from __future__ import annotations

from catalog.errors import PermissionDenied
from catalog.names import SYSTEM_ROLE
from catalog.plan.operations import (
    ApplyReplacement,
    ChangeItem,
    CreateItem,
    CreateSpace,
    DropItem,
    DropSpace,
    Operation,
    RollbackReplacement,
    SetComment,
    SetFlag,
    SetReferences,
    SetSecret,
)
from catalog.plan.picture import Entry, Namespace, Picture, SourceFacts
from catalog.plan.plans import Change, Plan, Write


def check(plan: Plan, picture: Picture, role: str) -> None:
    """Raises PermissionDenied when the role may not carry the plan out."""
    known = picture.roles.get(role)
    if known is None and role != SYSTEM_ROLE:
        message = f'role "{role}" does not exist in this region'
        raise PermissionDenied(message)
    if role == SYSTEM_ROLE or (known is not None and known.superuser):
        return
    match plan:
        case Change():
            named = {entry.id for entry in plan.touches}
            for operation in plan.operations:
                _check_operation(operation, role, named)
            if any(_is_webhook(operation) for operation in plan.operations):
                _own_secrets(plan, role)
        case Write():
            _must_own(plan.target, role)
        case _:
            pass


def _check_operation(operation: Operation, role: str, named: set[str]) -> None:
    """What the statement names must be owned; what only depends on it follows its owner."""
    match operation:
        case ApplyReplacement() | RollbackReplacement():
            _own_views(operation, role)
        case DropItem() | ChangeItem() | SetComment() | SetSecret() | SetReferences():
            if operation.entry.id in named:
                _must_own(operation.entry, role)
        case DropSpace():
            _own_space(operation.space, role)
        case SetFlag():
            message = "permission denied to ALTER SYSTEM"
            raise PermissionDenied(message, hint="A superuser may.")
        case CreateItem() | CreateSpace():
            pass


def _own_views(operation: ApplyReplacement | RollbackReplacement, role: str) -> None:
    _must_own(operation.target, role)
    if isinstance(operation, ApplyReplacement):
        _must_own(operation.replacement, role)


def _own_space(space: Namespace, role: str) -> None:
    if space.owner != role:
        kind = "database" if len(space.path) == 1 else "schema"
        message = f"must be owner of {kind} {space.path[-1]}"
        raise PermissionDenied(message)


def _is_webhook(operation: Operation) -> bool:
    facts = operation.entry.facts if isinstance(operation, CreateItem) else None
    return isinstance(facts, SourceFacts) and facts.type == "webhook"


def _own_secrets(plan: Change, role: str) -> None:
    """A webhook's answers tell whether its check holds, and so what a secret is."""
    for entry in plan.touches:
        if entry.kind == "secret":
            _must_own(entry, role)


def _must_own(entry: Entry, role: str) -> None:
    if entry.owner != role:
        message = f"must be owner of {entry.kind.upper()} {entry.name}"
        detail = f'The owner is "{entry.owner}".'
        raise PermissionDenied(message, detail=detail)
