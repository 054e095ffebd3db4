"""What a change does to the catalog, one small record per kind of change.

A planner returns operations; `catalog.commit` writes them, and `apply` shows them to later
statements of the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never

from catalog.plan.picture import Counters, Entry, Namespace, Picture, Version
from ingest.contract.upstream import Reference

Key = TypeVar("Key", str, tuple[str, int])


@dataclass(frozen=True)
class CreateItem:
    """Put an item in. `secret` is a new secret's value, `references` a new source's; `upstream`
    names what a new source's feed consumes."""

    entry: Entry
    secret: str = field(default="", repr=False)
    references: tuple[Reference, ...] = ()
    upstream: str = ""


@dataclass(frozen=True)
class DropItem:
    """Take an item out."""

    entry: Entry


@dataclass(frozen=True)
class ChangeItem:
    """An item gets a new name, a new definition or both. `renamed_from` is for the audit log;
    `guarded`: a replacement's guard rails changed."""

    entry: Entry
    renamed_from: str = ""
    guarded: bool = False


@dataclass(frozen=True)
class ApplyReplacement:
    """A replacement takes the place of its target's definition and data from `since` (ms) on.

    `entry` is the target after it. `since` is chosen when the change is about to be committed.
    `automatic`: its guard rails let it, and no person asked.
    """

    target: Entry
    replacement: Entry
    entry: Entry
    since: int = 0
    automatic: bool = False


@dataclass(frozen=True)
class RollbackReplacement:
    """An earlier version of a view is in force again from `since` (ms) on; `entry` is the view
    after it."""

    target: Entry
    version: Version
    entry: Entry
    since: int = 0


@dataclass(frozen=True)
class SetComment:
    """A comment on an item, or on its `column` (from 1); None takes it away."""

    entry: Entry
    text: str | None
    column: int = 0


@dataclass(frozen=True)
class SetSecret:
    """A secret gets a new value."""

    entry: Entry
    secret: str = field(repr=False)


@dataclass(frozen=True)
class SetReferences:
    """A source's references are what upstream has now."""

    entry: Entry
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class CreateSpace:
    """Put a database or schema in."""

    space: Namespace


@dataclass(frozen=True)
class DropSpace:
    """Take a database or schema out."""

    space: Namespace


@dataclass(frozen=True)
class SetFlag:
    """A feature flag of the region; None takes it back to its default."""

    name: str
    value: str | None


Operation = (
    CreateItem
    | DropItem
    | ChangeItem
    | ApplyReplacement
    | RollbackReplacement
    | SetComment
    | SetSecret
    | SetReferences
    | CreateSpace
    | DropSpace
    | SetFlag
)


def apply(picture: Picture, operations: Iterable[Operation]) -> Picture:
    """The picture that the operations lead to; one copy whatever their number."""
    entries = dict(picture.entries)
    spaces = dict(picture.namespaces)
    flags = dict(picture.flags)
    comments = dict(picture.comments)
    counters = picture.counters
    for operation in operations:
        match operation:
            case CreateItem():
                entries[operation.entry.id] = operation.entry
                counters = replace(counters, item=counters.item + 1, oid=counters.oid + 1)
            case CreateSpace() | DropSpace():
                counters = _space(operation, spaces, counters)
            case SetFlag():
                _put(flags, operation.name, operation.value)
            case SetComment():
                _put(comments, (operation.entry.id, operation.column), operation.text)
            case SetSecret() | SetReferences():
                pass
            case _:
                _entry(operation, entries)
    return replace(
        picture,
        entries=entries,
        namespaces=spaces,
        flags=flags,
        counters=counters,
        comments=comments,
    )


def _entry(
    operation: ChangeItem | DropItem | ApplyReplacement | RollbackReplacement,
    entries: dict[str, Entry],
) -> None:
    match operation:
        case ChangeItem() | RollbackReplacement():
            entries[operation.entry.id] = operation.entry
        case ApplyReplacement():
            entries[operation.entry.id] = operation.entry
            entries.pop(operation.replacement.id, None)
        case DropItem():
            entries.pop(operation.entry.id, None)
        case _:
            assert_never(operation)


def _space(
    operation: CreateSpace | DropSpace,
    spaces: dict[tuple[str, ...], Namespace],
    counters: Counters,
) -> Counters:
    if isinstance(operation, DropSpace):
        spaces.pop(operation.space.path, None)
        return counters
    spaces[operation.space.path] = operation.space
    return replace(counters, namespace=counters.namespace + 1, oid=counters.oid + 1)


def _put(texts: dict[Key, str], key: Key, value: str | None) -> None:
    if value is None:
        texts.pop(key, None)
    else:
        texts[key] = value
