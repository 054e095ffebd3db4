"""Built-in relations between releases (seed 004): what the code declares against what a region
remembers. Pure.

A built-in is known by its name; its id and its fingerprint (number, names and types of columns)
are remembered. One whose fingerprint differs, and every built-in that reads it, directly or not,
in the old release or the new, gets a new id. What goes is dropped in the order of the old
dependencies, dependents first; what comes is created in the order of the new ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from catalog.migrate.plan import Action, Step
from catalog.names import Path

Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Declared:
    """A built-in of this release. `needs` are names of built-ins that it reads."""

    name: str
    columns: Columns
    needs: tuple[str, ...] = ()
    kind: str = "relation"

    @property
    def fingerprint(self) -> str:
        """Of the number, names and types of its columns, and of nothing else."""
        return fingerprint(self.columns)


@dataclass(frozen=True)
class Remembered:
    """A built-in as a region remembers it."""

    name: str
    id: str
    oid: int
    fingerprint: str
    columns: Columns
    needs: tuple[str, ...] = ()
    kind: str = "relation"


@dataclass(frozen=True)
class BuiltinPlan:
    """What the start of this release does to a region's built-ins.

    `drops` are old ones in the order they go, `creates` new ones in the order they come; `kept`
    stay with their ids. `reasons` say why, by name.
    """

    drops: tuple[Remembered, ...]
    creates: tuple[Remembered, ...]
    kept: tuple[Remembered, ...]
    reasons: Mapping[str, str]

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.drops or self.creates)


def fingerprint(columns: Columns) -> str:
    """The fingerprint of columns."""
    text = json.dumps([list(column) for column in columns], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def plan_builtins(
    remembered: Iterable[Remembered], declared: Iterable[Declared], next_id: int, next_oid: int
) -> BuiltinPlan:
    """The plan from one release to the next; raises ValueError for needs that go in a circle."""
    old = {one.name: one for one in remembered}
    new = {one.name: one for one in declared}
    reasons = dict(_changed(old, new))
    _spread(reasons, old, new)
    drops = [old[name] for name in _ordered(_graph(old), "old") if name in reasons and name in old]
    creates: list[Remembered] = []
    kept: list[Remembered] = []
    for name in _ordered(_graph(new), "new"):
        one = new[name]
        if name in reasons:
            made = (f"s{next_id + len(creates)}", next_oid + len(creates))
        else:
            made = (old[name].id, old[name].oid)
        now = Remembered(name, *made, one.fingerprint, one.columns, one.needs, one.kind)
        (creates if name in reasons else kept).append(now)
    return BuiltinPlan(tuple(reversed(drops)), tuple(creates), tuple(kept), reasons)


def _changed(
    old: Mapping[str, Remembered], new: Mapping[str, Declared]
) -> Iterator[tuple[str, str]]:
    """Names whose definition differs, with the difference in words."""
    for name in {**old, **new}:
        if name not in new:
            yield name, "is not in this release any more"
        elif name not in old:
            yield name, "is new in this release"
        elif old[name].fingerprint != new[name].fingerprint:
            yield name, difference(old[name].columns, new[name].columns)


def difference(before: Columns, after: Columns) -> str:
    """How columns differ, in words."""
    was, now = dict(before), dict(after)
    told = [f"column {name} added" for name in now if name not in was]
    told += [f"column {name} removed" for name in was if name not in now]
    told += [
        f"column {name} is {now[name]}, was {was[name]}"
        for name in now
        if name in was and now[name] != was[name]
    ]
    return ", ".join(told) or "columns in another order"


def _spread(
    reasons: dict[str, str], old: Mapping[str, Remembered], new: Mapping[str, Declared]
) -> None:
    """Mark what reads something that is marked, in the old release or in the new."""
    readers: dict[str, set[str]] = {}
    both: tuple[Mapping[str, Remembered] | Mapping[str, Declared], ...] = (old, new)
    for known in both:
        for name, one in known.items():
            for needed in one.needs:
                readers.setdefault(needed, set()).add(name)
    left = list(reasons)
    while left:
        name = left.pop()
        for reader in sorted(readers.get(name, ())):
            if reader not in reasons:
                reasons[reader] = f"reads {name}"
                left.append(reader)


def _graph(known: Mapping[str, Remembered] | Mapping[str, Declared]) -> dict[str, list[str]]:
    return {name: [n for n in one.needs if n in known] for name, one in known.items()}


def _ordered(graph: Mapping[str, list[str]], which: str) -> list[str]:
    """Names with what they need before them."""
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        names = ", ".join(error.args[1])
        message = f"the {which} built-ins need one another: {names}"
        raise ValueError(message) from error


def index_names(
    logs: Iterable[str], clusters: Iterable[str], taken: Iterable[str]
) -> dict[tuple[str, str], str]:
    """A name for every cluster's index on every log, by log and cluster.

    `LOGNAME-CLUSTERNAME-primary-idx`, with 1, 2, .. after it where that is taken.
    """
    used = set(taken)
    found: dict[tuple[str, str], str] = {}
    chosen = tuple(clusters)
    for log in logs:
        for cluster in chosen:
            base = f"{log}-{cluster}-primary-idx"
            name, number = base, 0
            while name in used:
                number += 1
                name = f"{base}{number}"
            used.add(name)
            found[log, cluster] = name
    return found


def steps_of(plan: BuiltinPlan) -> tuple[Step, ...]:
    """The plan as steps: first what goes, then what comes."""
    new = {one.name: one for one in plan.creates}
    old = {one.name: one for one in plan.drops}
    found = [_step("drop", one, one, plan) for one in plan.drops if one.name not in new]
    for one in plan.creates:
        before = old.get(one.name)
        found.append(_step("replace" if before else "create", before, one, plan))
    return tuple(found)


def _step(action: Action, before: Remembered | None, after: Remembered, plan: BuiltinPlan) -> Step:
    path = path_of(after.name)
    dropped = action == "drop"
    return Step(
        action=action,
        item=before.id if before else "",
        kind=before.kind if before else "",
        new_kind=after.kind,
        path=path,
        new_path=path,
        before=_shape(before) if before else "",
        after="" if dropped else _shape(after),
        why=plan.reasons[after.name],
        new_item="" if dropped else after.id,
        oid=after.oid,
    )


def _shape(one: Remembered) -> str:
    return one.name + " (" + ", ".join(" ".join(column) for column in one.columns) + ")"


def path_of(name: str) -> Path:
    """A built-in's name in parts; built-ins are in every database."""
    schema, _, item = name.partition(".")
    return ("", schema, item) if item else ("", "", schema)
