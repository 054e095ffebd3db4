"""What reads a table, and what its counterpart is called until the switch. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog.errors import InvalidStatement
from catalog.names import Path, dotted
from catalog.plan.picture import Entry, Picture, ViewFacts

_ADDED = "_next"
_LONGEST = 255


@dataclass(frozen=True)
class Readers:
    """What has to change with a table, each in the order of creation.

    `views` are plain views on it, directly or through one another; `kept` the materialized views
    that read it or them; `waiting` the replacements that do.
    """

    views: tuple[Entry, ...]
    kept: tuple[Entry, ...]
    waiting: tuple[Entry, ...]


def readers(picture: Picture, table: str) -> Readers:
    """What reads the table up to the next materialized views."""
    views: dict[str, Entry] = {}
    kept: dict[str, Entry] = {}
    waiting: dict[str, Entry] = {}
    stack = [table]
    while stack:
        for one in picture.dependents(stack.pop()):
            if one.kind == "view" and one.id not in views:
                views[one.id] = one
                stack.append(one.id)
            elif one.kind == "materialized view":
                (waiting if _target(one) else kept)[one.id] = one
    return Readers(_ordered(picture, views), _sorted(kept), _sorted(waiting))


def _target(entry: Entry) -> str:
    return entry.facts.target if isinstance(entry.facts, ViewFacts) else ""


def _sorted(found: Mapping[str, Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(found.values(), key=lambda one: int(one.id[1:])))


def _ordered(picture: Picture, views: Mapping[str, Entry]) -> tuple[Entry, ...]:
    """What is read before what reads it; a definition may be newer than its reader."""
    closure = picture.closure(sorted(views, key=lambda item: int(item[1:])))
    return tuple(reversed([one for one in closure if one.id in views]))


def checked(picture: Picture, table: str) -> Entry:
    """The table, if this can be done for it; raises InvalidStatement."""
    found = picture.entries.get(table)
    if found is None or found.kind != "table" or not found.fed:
        message = f'"{dotted(found.path)}" is not a table from a source' if found else "no table"
        hint = "It is for tables that CREATE TABLE .. FROM SOURCE made."
        raise InvalidStatement(message, hint=hint)
    if waiting := readers(picture, table).waiting:
        first = waiting[0]
        message = f'replacement "{dotted(first.path)}" reads it already'
        raise InvalidStatement(message, hint="Apply or discard it first.", sqlstate="55000")
    return found


def chosen(picture: Picture, table: str) -> dict[str, Path]:
    """Free names, by the id of what they are the counterparts of."""
    found = readers(picture, table)
    taken = set(picture.by_path)
    names: dict[str, Path] = {}
    for entry in (picture.entries[table], *found.views, *found.kept):
        names[entry.id] = path = next(one for one in _free(entry.path) if one not in taken)
        taken.add(path)
    return names


def _free(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        added = _ADDED if number == 1 else f"{_ADDED}_{number}"
        stem = path[2].encode()[: _LONGEST - len(added)].decode(errors="ignore")
        yield (path[0], path[1], stem + added)
        number += 1
