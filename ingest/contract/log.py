"""The feed's log: one Delta table per feed, raw and append-only.

One Delta commit is one batch; all rows of a batch share one `time`. Its `userMetadata` is the JSON
of `Commit`, which is the reclock binding: time -> upstream frontier, durable before anything is
acknowledged upstream. `before` and `after` hold upstream text at index `position - 1`, so that a
value keeps its place whatever columns come and go.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

LOG_COLUMNS = (
    ("time", "bigint"),
    ("seq", "bigint"),
    ("reference", "bigint"),
    ("op", "string"),
    ("key", "array<string>"),
    ("before", "array<string>"),
    ("after", "array<string>"),
    ("unchanged", "array<int>"),
    ("position", "bigint"),
)
"""Names and Spark types, in order.

time: the batch's mz_timestamp, milliseconds. seq: order inside the batch. reference: the upstream
relation's identity. op: see `Op`; an insert (i) is of a key that is not there, so a feed that
cannot tell writes an update (u). key: text of the key columns, in key order, null without a key (a
key change is logged as a delete of the old key and an insert of the new). before: the old row,
only under replica identity FULL; in an insert that a key change made, the old key's columns, whose
row has the `unchanged` values. after: the new row. unchanged: positions (1-based) whose value
upstream left out of `after` (unchanged TOAST). position: upstream commit position (LSN).
"""

Op = Literal["i", "u", "d", "t"]


@dataclass(frozen=True)
class Commit:
    """What a log commit's userMetadata says. `upto` is the upstream position all of whose commits
    are in the log; `epoch` fences a second writer: a writer refuses to go on when it finds a
    larger one than its own. `counts` is rows by reference identity, for empty-tail decisions.
    `upstream` says which server it was: a restored or promoted one is another. `taken` is, for
    each process that leaves requests in an inbox, up to which number the log has them. `attempt`
    counts a writer's claims: it claims the log anew when it does not know what became of a batch.
    """

    feed: str
    epoch: int
    time: int
    upto: int
    counts: dict[str, int]
    upstream: str = ""
    taken: dict[str, int] = field(default_factory=dict)
    attempt: int = 0

    def to_json(self) -> str:
        """Compact JSON for `userMetadata`."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Commit:
        """Read back what `to_json` wrote; raises ValueError on anything else."""
        fields = json.loads(text)
        return cls(**fields)


class Succession:
    """Which of a log's batches count, told in the order of their commits.

    A writer that lost the feed may still get a batch in, and so may an append whose answer was
    lost: behind the claim that followed, which has a larger epoch or attempt, it is void.
    """

    def __init__(self) -> None:
        self._claim = (0, 0)
        self._time = -1

    @property
    def epoch(self) -> int:
        """The newest epoch that claimed the log; 0 before the first."""
        return self._claim[0]

    def takes(self, commit: Commit) -> bool:
        """Whether the log's next commit counts. A claim that was made without knowing the batch
        before it only claims."""
        if (commit.epoch, commit.attempt) < self._claim:
            return False
        self._claim = commit.epoch, commit.attempt
        if commit.time < self._time:
            return False
        self._time = commit.time
        return True
