"""A source's references as rows, and the drift between two looks at upstream."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from catalog.models import Item, ReferenceDrift, SourceReference
from catalog.stored import Json, check_to_json, upstream_column_to_json
from ingest.contract.upstream import Reference

_FIELDS = (
    "identity",
    "columns",
    "key",
    "replica_identity",
    "rows",
    "bytes",
    "problems",
    "updated_at",
)


def write_references(
    source: Item, references: tuple[Reference, ...], now: dt.datetime, *, first: bool
) -> int:
    """Make the rows what upstream offers now; returns how many differences were noted.

    A source's `first` look notes none.
    """
    old = {(row.namespace, row.name): row for row in SourceReference.objects.filter(source=source)}
    new = {(reference.namespace, reference.name): reference for reference in references}
    drift = [] if first else list(_drift(source, old, new, now))
    gone = [row.pk for path, row in old.items() if path not in new]
    SourceReference.objects.filter(pk__in=gone).delete()
    rows = [_row(source, reference, old.get(path), now) for path, reference in new.items()]
    SourceReference.objects.bulk_create([row for row in rows if row.pk is None], batch_size=500)
    kept = [row for row in rows if row.pk in {row.pk for row in old.values()}]
    SourceReference.objects.bulk_update(kept, _FIELDS, batch_size=200)
    ReferenceDrift.objects.bulk_create(drift, batch_size=500)
    return len(drift)


def _row(
    source: Item, reference: Reference, old: SourceReference | None, now: dt.datetime
) -> SourceReference:
    return SourceReference(
        pk=old.pk if old else None,
        source=source,
        namespace=reference.namespace,
        name=reference.name,
        identity=reference.identity,
        columns=[upstream_column_to_json(column) for column in reference.columns],
        key=list(reference.key),
        replica_identity=reference.replica_identity,
        rows=reference.rows,
        bytes=reference.bytes,
        problems=[check_to_json(problem) for problem in reference.problems],
        added_at=old.added_at if old else now,
        updated_at=now,
    )


_Paths = dict[tuple[str, str], SourceReference]


def _drift(
    source: Item, old: _Paths, new: dict[tuple[str, str], Reference], now: dt.datetime
) -> Iterator[ReferenceDrift]:
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        for event, column, was, is_ in _events(before, after):
            yield ReferenceDrift(
                source=source,
                namespace=path[0],
                name=path[1],
                event=event,
                column=column,
                before=was,
                after=is_,
                noticed_at=now,
            )


_Event = tuple[str, str, str, str]


def _events(before: SourceReference | None, after: Reference | None) -> Iterator[_Event]:
    if before is None:
        yield ("added", "", "", "")
        return
    if after is None:
        yield ("dropped", "", "", "")
        return
    was: dict[str, Json] = {column["name"]: column for column in before.columns}
    now = {column.name: column for column in after.columns}
    for name in was.keys() - now.keys():
        yield ("column dropped", name, was[name]["type_name"], "")
    for name in now.keys() - was.keys():
        yield ("column added", name, "", now[name].type_name)
    for name in was.keys() & now.keys():
        if was[name]["type_name"] != now[name].type_name:
            yield ("column retyped", name, was[name]["type_name"], now[name].type_name)
