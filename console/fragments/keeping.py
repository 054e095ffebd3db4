"""What a materialized view is doing and how its rows are kept, in words."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from catalog.reads import ViewRow

_HOW = {
    "incremental": (
        "Incrementally",
        "Only what changed in its inputs is computed: a change costs as much as it is large.",
    ),
    "recompute": (
        "Recomputed and compared",
        "When something changes, all of it is computed again; only the difference is written.",
    ),
}
_SHORT = {"incremental": "incrementally", "recompute": "recomputed"}


@dataclass(frozen=True)
class Kept:
    """How a view is kept: `look` is incremental, recompute, sealed, refresh or unknown."""

    look: str
    short: str
    title: str
    text: str


def state(view: ViewRow) -> str:
    """One word: failed, stalled, paused, hydrating, sealed or running."""
    if view.status.status in {"failed", "stalled", "dropped"}:
        return view.status.status
    if not view.hydrated:
        return "paused" if view.cancelled else "hydrating"
    return "sealed" if view.sealed else "running"


def lag(view: ViewRow, now: dt.datetime) -> float:
    """Seconds between now and the moment up to which its rows are right; -1 unknown."""
    if not view.hydrated or not view.complete_through:
        return -1
    return round(max(0.0, now.timestamp() - view.complete_through / 1000), 1)


def kept(view: ViewRow) -> Kept:
    """How the view is kept, and why so."""
    if view.sealed:
        text = "It reads nothing that can change. It was computed once and stays as it is."
        return Kept("sealed", "sealed", "Sealed", text)
    if refreshed := refresh_words(view.options):
        text = f"It is brought up to date {refreshed}, and stands still in between."
        return Kept("refresh", refreshed, refreshed.capitalize(), _with_reason(text, view))
    if view.hydrated:
        how = view.how if view.how in _HOW else "recompute" if view.reason else "incremental"
        title, text = _HOW[how]
        return Kept(how, _SHORT[how], title, _with_reason(text, view))
    text = "It is decided when its rows are computed for the first time."
    return Kept("unknown", "\N{EN DASH}", "Not known yet", text)


def _with_reason(text: str, view: ViewRow) -> str:
    said = view.hydrated and view.reason
    return f"{text} Why: {view.reason.rstrip('.')}." if said else text


def refresh_words(options: dict[str, str]) -> str:
    """When a view refreshes: `every 5 minutes`; empty when it follows every commit."""
    words = []
    if every := options.get("refresh every"):
        words.append(f"every {span(int(every))}")
    if times := options.get("refresh at"):
        words.append(f"at {', '.join(_moment(int(time)) for time in times.split(','))}")
    if options.get("refresh at creation"):
        words.append("at creation")
    return " and ".join(words)


def option_lines(options: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Options that a page names one by one."""
    lines = []
    if refreshed := refresh_words(options):
        lines.append(("Refreshed", refreshed))
    if history := options.get("retain history"):
        lines.append(("History kept", span(int(history))))
    return tuple(lines)


def span(milliseconds: int) -> str:
    """`90 seconds`, `5 minutes`, `1 day`: the largest unit that is exact."""
    for unit, size in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000)):
        if milliseconds >= size and milliseconds % size == 0:
            count = milliseconds // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    seconds = milliseconds / 1000
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def _moment(milliseconds: int) -> str:
    return f"{dt.datetime.fromtimestamp(milliseconds / 1000, tz=dt.UTC):%Y-%m-%d %H:%M:%S} UTC"
