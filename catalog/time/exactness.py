"""Whether a maintained view's own rows are what its query gives at a time."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.plan.picture import Entry, Picture
from catalog.planes import plane_of
from catalog.time.bounds import replaced_through, view_bounds
from catalog.time.expansion import needs_at
from catalog.time.inputs import input_of
from ingest import engine


def exact(picture: Picture, entry: Entry, time: int) -> bool:
    """Whether the view's rows at `time` (ms) are its query's.

    Its data tells of the changes that it has seen, so the views that it reads must be exact then
    too. A view that refreshes now and then is what it was at its last refresh.
    """
    if _as_refreshed(entry):
        return True
    source = input_of(entry, picture)
    if any(one.since > time for one in source.segments[1:]):
        through = replaced_through(source.segments, time)
    else:
        through = view_bounds(picture.region, [entry])[entry.id].through
    if not engine.view_exact(plane_of(picture.region), source, time, through):
        return False
    return all(exact(picture, view, time) for view in _below(picture, needs_at(entry, time)))


def _below(picture: Picture, needs: tuple[str, ...]) -> Iterator[Entry]:
    """The maintained views that are read, through plain views too."""
    for item in needs:
        entry = picture.entries.get(item)
        if entry is None:
            continue
        if entry.kind == "materialized view":
            yield entry
        elif entry.kind == "view":
            yield from _below(picture, entry.needs)


def _as_refreshed(entry: Entry) -> bool:
    return entry.view.sealed or any(name.startswith("refresh") for name in entry.view.options)
