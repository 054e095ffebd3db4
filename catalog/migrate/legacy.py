"""What of a picture is in the old form: sources that export by themselves, and subsources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from catalog.errors import SyntaxFailure
from catalog.migrate.texts import Clauses, clauses
from catalog.plan.picture import Entry, Picture

LegacyKind = Literal["single-output", "multi-output", "subsource", "progress", "webhook"]
_SOURCE, _SUBSOURCE = "CREATE SOURCE ", "CREATE SUBSOURCE "


@dataclass(frozen=True)
class Legacy:
    """One object in the old form. `source` is the id of the source that it is of, or its own.

    `clauses` is None for a webhook, and where the definition could not be read (`problem`).
    """

    kind: LegacyKind
    entry: Entry
    source: str
    clauses: Clauses | None = None
    problem: str = ""


def legacy_entries(picture: Picture) -> tuple[Legacy, ...]:
    """Everything in the old form, oldest first."""
    found = list(_found(picture))
    sources = {one.source for one in found}
    named = {one.entry.id for one in found}
    plain = [
        Legacy("multi-output", picture.entries[item], item, *_read(picture.entries[item]))
        for item in sources - named
        if item in picture.entries
    ]
    return tuple(sorted((*found, *plain), key=lambda one: int(one.entry.id[1:])))


def _found(picture: Picture) -> Iterator[Legacy]:
    owners = _progress_owners(picture)
    for entry in picture.entries.values():
        kind = _kind(entry)
        if kind is None:
            continue
        if kind == "webhook":
            yield Legacy(kind, entry, entry.id)
            continue
        read, problem = _read(entry)
        source = entry.id
        if kind in {"subsource", "progress"}:
            source = _owner(entry, read, picture, owners)
            problem = problem or ("" if source else "its source is not there")
        yield Legacy(kind, entry, source, read, problem)


def _kind(entry: Entry) -> LegacyKind | None:
    text = entry.create_sql
    if text.startswith(_SUBSOURCE):
        return "progress" if _has_progress_option(text) else "subsource"
    if not text.startswith(_SOURCE):
        return None
    if " FROM WEBHOOK " in text:
        return "webhook"
    try:
        read = clauses(text)
    except SyntaxFailure:
        return "multi-output"
    if read.data or (entry.shard and not read.exports):
        return "single-output"
    export_options = any(word in text for word in ("TEXT COLUMNS", "EXCLUDE COLUMNS"))
    return "multi-output" if read.exports or read.progress or export_options else None


def _has_progress_option(text: str) -> bool:
    withs = text.rpartition(" WITH (")[2].rstrip(")")
    words = withs.replace("=", " ").split()
    return bool(words) and words[0] == "PROGRESS" and words[1:2] != ["false"]


def _read(entry: Entry) -> tuple[Clauses | None, str]:
    try:
        return clauses(entry.create_sql), ""
    except SyntaxFailure as error:
        return None, error.message


def _progress_owners(picture: Picture) -> Mapping[str, str]:
    """The source by the id of its progress subsource, where the source names or needs it."""
    found: dict[str, str] = {}
    for entry in picture.entries.values():
        if not entry.create_sql.startswith(_SOURCE):
            continue
        for needed in entry.needs:
            other = picture.entries.get(needed)
            if other is not None and other.create_sql.startswith(_SUBSOURCE):
                found[needed] = entry.id
        if " EXPOSE PROGRESS AS " in entry.create_sql:
            read, _ = _read(entry)
            named = picture.by_path.get(read.progress) if read and read.progress else None
            if named is not None:
                found[named.id] = entry.id
    return found


def _owner(entry: Entry, read: Clauses | None, picture: Picture, owners: Mapping[str, str]) -> str:
    if entry.id in owners:
        return owners[entry.id]
    if read is not None and read.source is not None:
        named = picture.by_path.get(read.source)
        if named is not None:
            return named.id
    sources = [item for item in entry.needs if _is_source(picture.entries.get(item))]
    return sources[0] if sources else ""


def _is_source(entry: Entry | None) -> bool:
    return entry is not None and entry.create_sql.startswith(_SOURCE)
