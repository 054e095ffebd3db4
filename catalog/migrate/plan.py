"""What a plan is made of, whichever migration it is for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from catalog.names import Path

Kind = Literal["sources to tables", "built-ins"]
Action = Literal[
    "to table",
    "strip",
    "split",
    "new table",
    "progress view",
    "repoint",
    "drop",
    "create",
    "replace",
]
KINDS: tuple[Kind, ...] = ("sources to tables", "built-ins")


@dataclass(frozen=True)
class Step:
    """One object's part.

    `item` is the object's id now and `new_item` the one it has afterwards where that differs
    (also for a new object). `needs` are the ids that it depends on afterwards, None where that
    does not change. `why` tells an operator which rule this follows.
    """

    action: Action
    item: str
    kind: str
    new_kind: str
    path: Path
    new_path: Path
    before: str
    after: str
    why: str
    new_item: str = ""
    oid: int = 0
    needs: tuple[str, ...] | None = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Blocker:
    """Why the plan cannot be applied as things are, and what to do about it."""

    item: str
    name: str
    problem: str
    remedy: str


@dataclass(frozen=True)
class Measured:
    """What is known of an object's data: bytes, rows (-1 unknown), whether it can be read."""

    bytes: int = -1
    rows: int = -1
    readable: bool = True


@dataclass(frozen=True)
class Plan:
    """A dry run: what would be done to a region at `revision`, and what that touches.

    `ids` maps the old id of what queries read to the new one; `dependents` are the ids of what
    reads or needs a changed object; `feeds` keep running throughout; `bytes` are of the data that
    changes its owner without moving. `seconds` is an estimate of the apply.
    """

    kind: Kind
    region: str
    revision: int
    steps: tuple[Step, ...]
    ids: dict[str, str] = field(default_factory=dict)
    dependents: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    bytes: int = 0
    seconds: float = 0.0
    blockers: tuple[Blocker, ...] = ()
    notes: tuple[str, ...] = ()
    dbt: str = ""
    terraform: str = ""

    @property
    def digest(self) -> str:
        """Equal for plans that do the same."""
        return digest(self.steps)


def digest(steps: Iterable[Step]) -> str:
    """A fingerprint of steps: what is done to what, in order, whatever the new ids will be."""
    found = hashlib.sha256()
    chosen = tuple(steps)
    new = [step.new_item for step in chosen if step.action == "new table"]
    ids = {item: f"new{number}" for number, item in enumerate(new)}
    for step in chosen:
        told = (
            step.action,
            step.item,
            ids.get(step.new_item, step.new_item),
            step.new_kind,
            step.new_path,
            step.before,
            step.after,
            None if step.needs is None else [ids.get(item, item) for item in step.needs],
        )
        found.update(json.dumps(told, separators=(",", ":")).encode())
    return found.hexdigest()
