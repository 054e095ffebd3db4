"""What a replacement would change, beside its target's size and its guard rails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.reads import StagedRow, ViewRow

_WIDTH = 1000
_THINNEST = 4


@dataclass(frozen=True)
class Bar:
    """A part of the bar that stands for the view's rows."""

    look: str
    x: int
    width: int


@dataclass(frozen=True)
class Shown:
    """Staged counts; `of` are the target's rows (-1 unknown), `as_of` in ms."""

    added: int
    removed: int
    changed: int
    bytes: int
    as_of: int
    of: int

    @property
    def total(self) -> int:
        """Rows that are added, removed or changed."""
        return self.added + self.removed + self.changed

    @property
    def percent(self) -> float | None:
        """How much of the target that is; None when nothing can be said."""
        if self.of < 0 or (not self.of and self.total):
            return None
        return 100.0 * self.total / self.of if self.of else 0.0

    @property
    def share(self) -> str:
        """`2.1 %`; something is never told as nothing."""
        return "\N{EN DASH}" if self.percent is None else percent_words(self.percent)

    @property
    def kept_share(self) -> str:
        """How much of the target stays."""
        if self.of <= 0:
            return "nothing"
        gone = min(self.of, self.removed + self.changed)
        return percent_words(100.0 * (self.of - gone) / self.of)

    @property
    def bars(self) -> tuple[Bar, ...]:
        """Removed and changed rows as parts of the view, added ones beyond it."""
        whole = max(1, self.of, self.removed + self.changed) + self.added
        widths = [
            (look, max(_THINNEST, count * _WIDTH // whole) if count else 0)
            for look, count in (
                ("del", self.removed),
                ("chg", self.changed),
                ("add", self.added),
            )
        ]
        left = max(0, _WIDTH - sum(width for _, width in widths))
        bars, x = [], left
        for look, width in widths:
            if width:
                bars.append(Bar(look, x, width))
            x += width
        return tuple(bars)


@dataclass(frozen=True)
class Verdict:
    """Whether guard rails would let it through: `look` is ok or warn."""

    look: str
    text: str


@dataclass(frozen=True)
class GuardFields:
    """Guard rails as a form shows them."""

    automatic: bool = False
    rows: str = ""
    percent: str = ""
    window: str = ""


def shown(row: StagedRow | None, target: ViewRow) -> Shown | None:
    """The counts beside the target's rows; None while they are not known."""
    if row is None:
        return None
    return Shown(row.added, row.removed, row.changed, row.bytes, row.as_of, target.rows)


def percent_words(percent: float) -> str:
    """`0 %`, `< 0.1 %`, `2.1 %`, `34 %`."""
    if percent <= 0:
        return "0 %"
    if percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:
        return "> 99.9 %"
    return f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def verdict(staged: Shown | None, guard: Mapping[str, Any], stopped: str = "") -> Verdict | None:
    """What the limits say of the counts; None without limits or counts. `stopped` is what the
    maintainer says of the guard rail that held it back."""
    if stopped:
        return Verdict("warn", stopped[:1].upper() + stopped[1:])
    rows, percent = guard.get("rows"), guard.get("percent")
    if staged is None or (rows is None and percent is None):
        return None
    if rows is not None and staged.total > rows:
        return Verdict("warn", f"More than the {rows:,} rows allowed")
    if percent is not None and (staged.percent is None or staged.percent > percent):
        return Verdict("warn", f"More than the {percent:g} % allowed")
    return Verdict("ok", "Within the guard rails")


def rule(guard: Mapping[str, Any]) -> str:
    """When a replacement is applied, in a few words."""
    if not guard:
        return "by a person"
    limits = []
    if guard.get("rows") is not None:
        limits.append(f"up to {guard['rows']:,} rows")
    if guard.get("percent") is not None:
        limits.append(f"up to {guard['percent']:g} %")
    if guard.get("window"):
        limits.append(f"{window_words(guard['window'])} UTC")
    return ", ".join(["by itself", *limits])


def guard_fields(guard: Mapping[str, Any]) -> GuardFields:
    """Guard rails as a form shows them."""
    if not guard:
        return GuardFields()
    rows, percent, window = guard.get("rows"), guard.get("percent"), guard.get("window")
    return GuardFields(
        automatic=True,
        rows="" if rows is None else str(rows),
        percent="" if percent is None else f"{percent:g}",
        window=window_words(window) if window else "",
    )


def window_words(window: tuple[int, int] | list[int]) -> str:
    """Minutes from midnight as `02:00-04:30`."""
    return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in window)
