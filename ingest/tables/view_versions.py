"""What the commits of a maintained view's data say: how far its base is, which steps count.

A step names the step before it. One that names another than the last that counts was made beside
it, by a maintainer that had lost the view: it is void, and its rows are never read.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from ingest import delta
from ingest.commits import Version, trimmed_to
from ingest.contract.plane import Plane
from ingest.contract.relation import Column
from ingest.contract.types import Type
from ingest.errors import IngestError


@dataclass(frozen=True)
class Hidden:
    """Columns that a shard has behind those that are read: their `names`, our `types` of them and
    their `meanings`. `key` are the places of the columns that no two of its rows share."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    meanings: tuple[str, ...]
    key: tuple[int, ...]

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Hidden:
        """What a commit says of them."""
        return cls(**{name: tuple(value) for name, value in fields.items()})

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns themselves."""
        pairs = zip(self.names, self.types, strict=True)
        return tuple(Column(name, Type.parse(kind)) for name, kind in pairs)


@dataclass(frozen=True)
class BaseCommit:
    """What a commit on a view's base says: it holds everything up to time `time` (ms), which
    step `step` made; the shard has `columns` columns. `rows` it holds, -1 where the commit's own
    number says it; `bytes` were there before and stay; it is the `appended`-th append since the
    base was last written whole. The `hidden` columns are besides."""

    time: int
    step: str
    columns: int
    rows: int = -1
    bytes: int = 0
    appended: int = 0
    hidden: Hidden | None = None

    def to_json(self) -> str:
        """Compact JSON for `userMetadata`."""
        return json.dumps({"view": "base", **asdict(self)}, separators=(",", ":"))


@dataclass(frozen=True)
class StepCommit:
    """What a commit on a view's changes says: they bring it from step `previous` to time `time`
    (ms); the inputs' changes after `after` made them. `how` is `ingest.contract.views.Step`'s.
    `hidden`: the rows have the shard's hidden columns, and rows of which only those changed are
    there with an mz_diff of 0."""

    step: str
    previous: str
    time: int
    after: int
    how: str
    hidden: bool = False

    def to_json(self) -> str:
        """Compact JSON for `userMetadata`."""
        return json.dumps({"view": "step", **asdict(self)}, separators=(",", ":"))


@dataclass(frozen=True)
class Base:
    """A version of a view's base."""

    version: int
    commit: BaseCommit
    rows: int
    bytes: int

    @property
    def time(self) -> int:
        """The time (ms) up to which the version holds everything."""
        return self.commit.time

    @property
    def step(self) -> str:
        """The id of the step that made its newest rows."""
        return self.commit.step


@dataclass(frozen=True)
class Made:
    """A step that counts: its commit and the files with its `rows` rows."""

    commit: StepCommit
    files: tuple[str, ...]
    rows: int
    bytes: int

    @property
    def time(self) -> int:
        """The time (ms) that the step brought the view to."""
        return self.commit.time


@dataclass(frozen=True)
class Known:
    """All there is to know of a view's data without reading it. `bases` and `steps` are oldest
    first, `void` are ids of steps that do not count; changes up to `trimmed` (ms) are gone."""

    shard: str
    bases: tuple[Base, ...]
    steps: tuple[Made, ...]
    void: tuple[str, ...]
    trimmed: int = -1

    @property
    def time(self) -> int:
        """The time (ms) of the newest step."""
        return max(self.bases[-1].time, self.steps[-1].time if self.steps else 0)

    @property
    def step(self) -> str:
        """The id of the newest step."""
        newest = self.steps[-1] if self.steps else None
        if newest is None or newest.time < self.bases[-1].time:
            return self.bases[-1].step
        return newest.commit.step

    @property
    def columns(self) -> int:
        """How many columns the shard has."""
        return self.bases[-1].commit.columns

    @property
    def hidden(self) -> Hidden | None:
        """The newest base's hidden columns; None when there are none, or a step left them out."""
        later = [step for step in self.steps if step.time > self.bases[-1].time]
        if not all(step.commit.hidden for step in later):
            return None
        return self.bases[-1].commit.hidden

    @property
    def since(self) -> int:
        """The first time (ms) that can be read."""
        return self.bases[0].time

    def base(self, time: int) -> Base:
        """The newest base that holds nothing after `time` (ms). Raises IngestError 22023 when
        there is none."""
        for base in reversed(self.bases):
            if base.time <= time:
                return base
        message = f"timestamp {time} is before the view's history begins"
        raise IngestError(message, hint="Choose a later AS OF.", sqlstate="22023")

    def between(self, after: int, upto: int) -> list[Made]:
        """The steps with `after` < time <= `upto`. Raises IngestError 22023 when some are gone."""
        if after < max(self.trimmed, self.since):
            message = f"timestamp {after} is before the history that is kept"
            raise IngestError(message, hint="Choose a later AS OF.", sqlstate="22023")
        return [step for step in self.steps if after < step.time <= upto]


def known(plane: Plane, shard: str) -> Known | None:
    """What the commits of a shard say; None while it is not hydrated."""
    on_base = delta.versions(delta.base_path(plane, shard))
    on_changes = delta.versions(delta.changes_path(plane, shard))
    newest = tuple(versions[-1].number if versions else -1 for versions in (on_base, on_changes))
    place = (plane, shard)
    seen = _known.get(place)
    if seen is not None and seen[0] == newest:
        return seen[1]
    found = _read(shard, on_base, on_changes)
    if found is not None:
        _known[place] = (newest, found)
        if len(_known) > _MOST_SHARDS:
            _known.pop(next(iter(_known)), None)
    return found


def _read(shard: str, on_base: list[Version], commits: list[Version]) -> Known | None:
    bases = _bases(on_base)
    if not bases:
        return None
    trimmed = max((trimmed_to(version) for version in commits), default=-1)
    bases = [base for base in bases if base.time >= trimmed]
    steps: list[Made] = []
    void: list[str] = []
    last = bases[0].step
    for version in commits:
        commit = step_of(version.metadata)
        if commit is None or commit.time <= bases[0].time:
            continue
        if commit.previous == last:
            last = commit.step
            rows, size = _metric(version, "numOutputRows"), _metric(version, "numOutputBytes")
            steps.append(Made(commit, version.added, rows, size))
        else:
            void.append(commit.step)
    return Known(shard, tuple(bases), tuple(steps), tuple(void), trimmed)


_known: dict[tuple[Plane, str], tuple[tuple[int, ...], Known]] = {}
_MOST_SHARDS = 2_000


def require(plane: Plane, shard: str) -> Known:
    """The same. Raises IngestError 55000 while the shard is not hydrated."""
    found = known(plane, shard)
    if found is None:
        raise IngestError(
            "the view is not readable yet: it is still hydrating",
            hint="Wait until its status is running.",
            sqlstate="55000",
        )
    return found


@lru_cache(maxsize=100_000)
def step_of(metadata: str) -> StepCommit | None:
    """The step that a commit carries; None for maintenance."""
    fields = _fields(metadata, "step")
    return None if fields is None else StepCommit(**fields)


@lru_cache(maxsize=10_000)
def _base_of(metadata: str) -> BaseCommit | None:
    fields = _fields(metadata, "base")
    if fields is None:
        return None
    hidden = fields.pop("hidden", None)
    return BaseCommit(**fields, hidden=Hidden.of(hidden) if hidden else None)


def _fields(metadata: str, kind: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(metadata)
    except ValueError:
        return None
    if not isinstance(fields, dict) or fields.pop("view", None) != kind:
        return None
    return fields


def _bases(versions: list[Version]) -> list[Base]:
    found: list[Base] = []
    for version in versions:
        said = _base_of(version.metadata)
        if said is not None:
            rows = said.rows if said.rows >= 0 else _metric(version, "numOutputRows")
            size = said.bytes + _metric(version, "numOutputBytes")
            found.append(Base(version.number, said, rows, size))
    return found


def _metric(version: Version, name: str) -> int:
    return int(version.metrics.get(name, 0))
