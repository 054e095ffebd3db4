"""Maintained views: what the catalog tells the data plane of them, and what comes back.

A view's query is a tree of blocks. The children of a block are inputs (tables, other maintained
views) or blocks, by the names that the block's texts use. How each kind of block follows its
children's changes is in `docs/adr/0006-maintained-views.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from ingest.contract.commands import Input
from ingest.contract.relation import Relation

BlockKind = Literal["linear", "partitioned", "topk", "recompute"]
MZ_DIFF = "mz_diff"
"""How many times a row of a change was added (positive) or removed."""
AFFECTED = "affected"
"""The name that a partitioned block's `restricted` text gives to the keys to compute again."""
FOLDED = "folded"
"""The name that a `finish` text gives to the groups with their new values."""


ConditionHow = Literal["and", "or", "not", "null", "true", "=", "<>", "<", "<=", ">", ">="]
Value = int | Decimal | str | date


@dataclass(frozen=True)
class Condition:
    """A condition over a child's columns, as SQL has it: `column` compared with `value`, null, or
    true; or `parts` put together."""

    how: ConditionHow
    column: str = ""
    value: Value | None = None
    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Lookup:
    """Another `child` whose rows changes are joined with: pairs `on` are of a column of theirs and
    the child's that is equal to it; `columns` are what the child's columns are called behind
    theirs, and the columns.
    """

    child: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """What changes of one `child` give: the child stands in the Spark text with `mz_diff`, and so
    do the rows that come out. Other children stand in it as they are. Changes that differ in no
    other of the child's columns than `columns` make no difference; None: in any. Where there is
    a text `touched`, it gives the keys of the same changes, and `sql` reads them as AFFECTED.
    `copied` are the child's columns that the key's are, in its order, where they are nothing else.
    `values` are pairs of another name in the text and the child's column that it is, None where a
    change may give several; what is only added up may be the column as a wider number. Changes
    of which one of the conditions `where` does not hold give no row. For these three the columns
    of `lookups` stand behind the child's; each row that is found there gives one.
    """

    child: str
    sql: str
    columns: tuple[str, ...] | None = None
    touched: str = ""
    copied: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] | None = None
    where: tuple[Condition, ...] = ()
    lookups: tuple[Lookup, ...] = ()


@dataclass(frozen=True)
class Ordered:
    """One of the things that rows are sorted by: a column of theirs."""

    column: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Fold:
    """An aggregate whose new value follows from the stored one and what changed.

    The block's own column `column` has it. `value` is its argument's name in the texts of `keys`,
    which is never null when `present`; empty for `rows`, which counts them all.
    """

    how: Literal["rows", "count", "sum", "min", "max"]
    column: str
    value: str = ""
    present: bool = False


@dataclass(frozen=True)
class Partial:
    """Aggregates that a view of groups keeps beside its own columns, so that every group follows
    from its stored row: `columns` are their names, and `meanings` what each of them is.

    The texts and `folds` are the block's, with these columns behind its own.
    """

    columns: tuple[str, ...]
    meanings: tuple[str, ...]
    sql: str
    restricted: str
    folds: tuple[Fold, ...]
    finish: str
    copied: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """One query block. `sql` is all of it, in Spark's words, over the names of the view's inputs;
    the other texts are over the names of its own `children`.

    linear: every change is given by `parts`, one for each child.
    partitioned: changes of the children in `parts` are given by them. Other children's touch the
    keys that `keys` give (columns `key`, and mz_diff): rows with another key stay as they are,
    `restricted` is the block for the keys in `AFFECTED` alone. `output_key` are the block's own
    columns with the same values, in `key`'s order, when it has them all.
    Groups of which every column is a key or follows from `folds` need no reading again, but where
    a least or greatest value, or maybe the last row, went away. `finish` makes of each
    row of FOLDED one of the block's columns and mz_diff: its columns are `key`, `s1`, .. for the
    folds, and mz_diff, which may be anything there and is passed on. `copied` are those of them
    that the block's columns are, where these are nothing else.
    topk: the first `limit` rows, in `order`, of what the only child has; no two rows tie but
    equal ones. `ordered` says the same as `order`.
    recompute: nothing is known; all of it is computed again and compared. `reason` says why.
    `exact`: the same inputs always give the same rows. Where they do not, in floating-point sums,
    only a view's own stored rows say what to take back. `columns` are the names that the texts
    give to what comes out. `partial`: what the root of a view may keep beside them.
    """

    kind: BlockKind
    sql: str
    children: dict[str, Block | str] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    keys: tuple[Part, ...] = ()
    key: tuple[str, ...] = ()
    restricted: str = ""
    output_key: tuple[str, ...] = ()
    reason: str = ""
    order: str = ""
    ordered: tuple[Ordered, ...] = ()
    limit: int = 0
    exact: bool = True
    columns: tuple[str, ...] = ()
    folds: tuple[Fold, ...] = ()
    finish: str = ""
    copied: tuple[str, ...] = ()
    partial: Partial | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs that the block reads, through its children."""
        names: list[str] = []
        for child in self.children.values():
            names += [child] if isinstance(child, str) else child.inputs
        return tuple(names)


@dataclass(frozen=True)
class View:
    """A maintained view, or a replacement that is made beside one.

    `shard` names its data. `root`'s columns are `relation`'s, in order; a child that is text is a
    key of `inputs`. `key` are columns that no two rows share, empty when none are known.
    `constant`: nothing it reads can change.
    """

    item: str
    shard: str
    relation: Relation
    inputs: dict[str, Input]
    root: Block
    key: tuple[str, ...] = ()
    constant: bool = False


@dataclass(frozen=True)
class Step:
    """What one step of a view did. It holds everything up to `time` (ms); its inputs' changes
    after `after` are what made it. `added` and `removed` count rows, `how` says which way; where a
    view that is incremental was computed again all the same, `reason` says why."""

    time: int
    after: int
    added: int = 0
    removed: int = 0
    how: Literal["hydrate", "incremental", "recompute", "nothing"] = "incremental"
    reason: str = ""


@dataclass(frozen=True)
class ViewState:
    """What a view's data says of itself: readable from `since` through `time` (ms, 0 not yet)."""

    since: int
    time: int
    rows: int
    bytes: int


@dataclass(frozen=True)
class Hydration:
    """How far the first computation of a view is: percent of Spark's tasks, rows a second."""

    percent: int
    rows: int
    rate: float


@dataclass(frozen=True)
class Staged:
    """What a replacement would change at `as_of` (ms). A row whose key is on both sides is
    changed; without a known key it is one removed and one added. `bytes`: of the rows as JSON
    text."""

    added: int
    removed: int
    changed: int
    bytes: int
    as_of: int
