"""Choosing: adding and removing references, target names without collisions, what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from console.wizards.listing import Listed, Listing
from console.wizards.state import Choice

ROW_BUDGET = 200
BYTES_PER_SECOND = 20_000_000
SHOWN = ("all", "selected", "attention", "new")

Chosen = dict[str, Choice]


@dataclass(frozen=True)
class Asked:
    """What the address says: search text, filter, opened schemas.

    `open` are slugs, as a schema's name may hold any sign; None when the address says nothing.
    """

    q: str = ""
    show: str = "all"
    open: frozenset[str] | None = None

    @property
    def narrowed(self) -> bool:
        """Not everything is shown."""
        return bool(self.q) or self.show != "all"

    @property
    def mark(self) -> str:
        """The part of a name that the search found."""
        return "" if self.q.startswith("col:") else self.q.rpartition(".")[2]


@dataclass(frozen=True)
class Line:
    """One reference and its choice; `already` names tables here that were made from it before."""

    ref: Listed
    choice: Choice | None
    already: tuple[str, ...] = ()

    @property
    def undecided(self) -> int:
        """Columns that wait for a person."""
        return self.ref.undecided(self.choice) if self.choice else 0


@dataclass(frozen=True)
class Space:
    """One schema; `slug` is its DOM id; `lines` are there only when it is open."""

    name: str
    slug: str
    count: int
    chosen: int
    undecided: int
    rows: int
    bytes: int
    open: bool
    lines: tuple[Line, ...]

    @property
    def state(self) -> str:
        """For the tri-state box."""
        return _tri(self.chosen, self.count)


@dataclass(frozen=True)
class Tree:
    """What matches, by schema."""

    spaces: tuple[Space, ...]
    matching: int
    chosen: int

    @property
    def state(self) -> str:
        """For the box above all."""
        return _tri(self.chosen, self.matching)


@dataclass(frozen=True)
class Totals:
    """Everything chosen; bytes, rows and seconds are estimates."""

    tables: int
    schemas: int
    columns: int
    rows: int
    bytes: int
    attention: int

    @property
    def seconds(self) -> float:
        """The first snapshot, at a cautious rate and a few seconds to begin."""
        return 5 + self.bytes / BYTES_PER_SECOND


def _tri(chosen: int, count: int) -> str:
    if not chosen:
        return "false"
    return "true" if chosen == count else "mixed"


def add(chosen: Chosen, rows: Iterable[Listed], taken: Set[str]) -> None:
    """Choose rows that can be; a name that is taken becomes `schema_table`, then is numbered."""
    used = {choice.into for choice in chosen.values()} | taken
    for row in rows:
        if row.key in chosen or row.blocked:
            continue
        choice = row.default()
        choice.into = free_name(row, used)
        used.add(choice.into)
        chosen[row.key] = choice


def free_name(row: Listed, used: Set[str]) -> str:
    """A table name that nothing has yet."""
    if row.name not in used:
        return row.name
    longer = f"{row.namespace}_{row.name}"
    candidates = (longer, *(f"{longer}_{number}" for number in range(2, len(used) + 3)))
    return next(name for name in candidates if name not in used)


def matching(listing: Listing, chosen: Chosen, asked: Asked) -> tuple[Listed, ...]:
    """The rows that search and filter leave."""
    rows = listing.matching(asked.q)
    if asked.show == "selected":
        return tuple(row for row in rows if row.key in chosen)
    if asked.show == "attention":
        return tuple(r for r in rows if r.key in chosen and r.undecided(chosen[r.key]))
    if asked.show == "new":
        return tuple(row for row in rows if row.row.new)
    return rows


def tree(
    listing: Listing, chosen: Chosen, asked: Asked, already: dict[str, tuple[str, ...]]
) -> Tree:
    """Schemas with counts; rows only of the open ones."""
    rows = matching(listing, chosen, asked)
    groups: dict[str, list[Listed]] = {}
    for row in rows:
        groups.setdefault(row.namespace, []).append(row)
    slugs = {name: f"s{number}" for number, name in enumerate(listing.namespaces)}
    opened = _opened(groups, slugs, asked)
    spaces = tuple(
        space(name, slugs[name], members, chosen, already, open_=name in opened)
        for name, members in groups.items()
    )
    return Tree(spaces, len(rows), sum(one.chosen for one in spaces))


def space(  # noqa: PLR0913 (a row of the tree is what it is)
    name: str,
    slug: str,
    members: list[Listed],
    chosen: Chosen,
    already: dict[str, tuple[str, ...]],
    *,
    open_: bool,
) -> Space:
    """One schema of the tree."""
    lines = tuple(Line(r, chosen.get(r.key), already.get(r.key, ())) for r in members)
    return Space(
        name,
        slug,
        len(members),
        sum(line.choice is not None for line in lines),
        sum(line.undecided > 0 for line in lines),
        sum(max(0, row.row.rows) for row in members),
        sum(max(0, row.row.bytes) for row in members),
        open_,
        lines if open_ else (),
    )


def _opened(groups: dict[str, list[Listed]], slugs: dict[str, str], asked: Asked) -> set[str]:
    """What was asked for; otherwise, narrowed or few, as many as the row budget allows."""
    if asked.open is not None and (asked.open or not asked.narrowed):
        return {name for name in groups if slugs[name] in asked.open}
    opened: set[str] = set()
    budget = ROW_BUDGET
    for name, members in groups.items():
        if len(members) > budget:
            continue
        if asked.narrowed or sum(map(len, groups.values())) <= ROW_BUDGET:
            opened.add(name)
            budget -= len(members)
    return opened or set(list(groups)[:1])


def totals(listing: Listing, chosen: Chosen) -> Totals:
    """Sums over everything chosen that is still upstream."""
    rows = [listing.by_key[key] for key in chosen if key in listing.by_key]
    return Totals(
        len(rows),
        len({row.namespace for row in rows}),
        sum(len(row.row.columns) - len(chosen[row.key].exclude) for row in rows),
        sum(max(0, row.row.rows) for row in rows),
        sum(max(0, row.row.bytes) for row in rows),
        sum(row.undecided(chosen[row.key]) > 0 for row in rows),
    )
