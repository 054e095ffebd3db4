"""Taking a migration back: what it changed is again what it was, all of it or nothing.

What came since is kept: new tables of a renamed source are told its old name, new readers of the
data depend on the source again. Where that cannot be, the rollback is refused with what to do.
"""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from catalog import history, leases
from catalog.errors import InvalidStatement
from catalog.migrate.apply import (
    LEASE,
    At,
    apply,
    carried,
    claim,
    new_owner,
    nowhere,
    still_mine,
)
from catalog.migrate.changes import Json, changed_since, undo
from catalog.migrate.plan import Blocker
from catalog.migrate.store import migration, tell
from catalog.migrate.writer import path_of
from catalog.models import Dependency, Item, Migration, MigrationUndo, Region
from catalog.names import Path, dotted
from catalog.plan.definitions import renamed
from ingest.errors import HeadraceError


def roll_back(region: str, gid: str, user: str, at: At = nowhere, owner: str = "") -> Migration:
    """Take an applied migration back, or go on with one whose process ended.

    Raises InvalidStatement when it was not applied, when its time is over, and where something
    that came since is in the way.
    """
    row = migration(region, gid)
    if row.expires_at is not None and row.expires_at < timezone.now():
        message = f"migration {gid} can no longer be rolled back"
        raise InvalidStatement(message, detail=f"Until {row.expires_at:%Y-%m-%d %H:%M} it could.")
    claim(row, user, ("applied", "rolling back"), owner or new_owner())
    return carried(row, user, at, _take_back, Migration.State.APPLIED)


def rollback_blockers(row: Migration) -> tuple[Blocker, ...]:
    """What is in the way of taking an applied migration back, as things are."""
    log = _log(row)
    return tuple(_blockers(row, log))


def resume(region: str, at: At = nowhere) -> tuple[str, ...]:
    """Go on with what a process that has ended left half done; the ids of the migrations."""
    done = []
    left = Migration.objects.filter(region__name=region, state__in=("applying", "rolling back"))
    for row in left:
        owner = new_owner()
        if not leases.take_row(Migration.objects.filter(pk=row.pk), owner, LEASE):
            continue
        gid = f"m{row.number}"
        act = apply if row.state == Migration.State.APPLYING else roll_back
        act(region, gid, row.user, at, owner)
        done.append(gid)
    return tuple(done)


def _log(row: Migration) -> list[Json]:
    rows = MigrationUndo.objects.filter(migration=row).order_by("number")
    return [change for kept in rows.values_list("changes", flat=True) for change in kept]


def _take_back(row: Migration, user: str, at: At) -> tuple[str, ...]:
    with transaction.atomic():
        began = time.monotonic()
        region = Region.objects.select_for_update().get(pk=row.region_id)
        at("locked")
        still_mine(row)
        log = _log(row)
        blockers = tuple(_blockers(row, log))
        if blockers:
            first = blockers[0]
            message = f"{first.name}: {first.problem}"
            told = "; ".join(f"{b.name}: {b.problem}" for b in blockers[1:6])
            raise InvalidStatement(message, detail=told or None, hint=first.remedy)
        at("checked")
        followers = _later(row, log)
        at("later objects")
        undo(region, _alive(log), at)
        at("undone")
        ids = _tell_items(row, region, user, followers)
        region.revision += 1
        region.stamp = uuid.uuid4()
        region.save(update_fields=["revision", "stamp", "next_audit"])
        pause = int((time.monotonic() - began) * 1000)
        Migration.objects.filter(pk=row.pk).update(
            state=Migration.State.ROLLED_BACK,
            rolled_back_at=timezone.now(),
            pause=pause,
            lease_owner="",
            lease_expires=None,
        )
        MigrationUndo.objects.filter(migration=row).delete()
        tell(row, user, "rolled back", f"{len(ids)} objects", timezone.now())
        at("before commit")
    return ids


def _touched_items(log: list[Json]) -> set[int]:
    keys = {change["pk"] for change in log if change.get("model") == "Item"}
    return {int(key) for key in keys}


def _gone(log: list[Json]) -> set[int]:
    """Keys of the items that the migration changed and that were dropped since."""
    touched = _touched_items(log)
    there: set[int] = set()
    keys = sorted(touched)
    for start in range(0, len(keys), 500):
        found = Item.objects.filter(pk__in=keys[start : start + 500])
        there |= set(found.values_list("pk", flat=True))
    return touched - there


def _alive(log: list[Json]) -> list[Json]:
    """The changes without those of items that are gone."""
    gone = _gone(log)
    everything = set(Item.objects.values_list("pk", flat=True))
    return [change for change in log if _stands(change, gone, everything)]


def _stands(change: Json, gone: set[int], there: set[int]) -> bool:
    if change.get("model") == "Item" and change.get("pk") in gone:
        return False
    if change["op"] == "move":
        return change["old"] not in gone and change["new"] not in gone
    if change["op"] == "delete":
        values = change["values"]
        items = [values[name] for name in ("item_id", "needs_id") if name in values]
        return all(item in there for item in items)
    return True


def _blockers(row: Migration, log: list[Json]) -> Iterator[Blocker]:
    gone = _gone(log)
    names = dict(row.steps.values_list("item", "name"))
    for change in log:
        moved = change["op"] == "move" and change["model"] == "ItemColumn"
        if moved and change["new"] in gone and change["old"] not in gone:
            source = Item.objects.get(pk=change["old"])
            yield Blocker(
                source.gid,
                names.get(source.gid, source.name),
                "the table with its data was dropped since",
                "Drop the source too; then the rest can be rolled back.",
            )
    for model, key in changed_since(log):
        if model == "Item" and key not in gone:
            item = Item.objects.select_related("schema__database").get(pk=key)
            yield Blocker(
                item.gid,
                dotted(path_of(item)),
                "it was renamed or redefined since",
                "Give it its old name and definition back, or stay with the tables.",
            )
    yield from _unwritable(row, log)


def _splits(row: Migration, log: list[Json]) -> list[tuple[Item, Item]]:
    """Sources and the tables that have their data."""
    pairs = {
        change["old"]: change["new"]
        for change in log
        if change["op"] == "move" and change["model"] == "ItemColumn"
    }
    rows: dict[int, Item] = {}
    keys = [*pairs, *pairs.values()]
    for start in range(0, len(keys), 500):
        part = Item.objects.select_related("schema__database")
        rows.update(part.in_bulk(keys[start : start + 500]))
    return [(rows[a], rows[b]) for a, b in pairs.items() if a in rows and b in rows]


@dataclass(frozen=True)
class _Since:
    """What needs sources and tables of a migration since it was applied, by their keys."""

    splits: tuple[tuple[Item, Item], ...]
    of_sources: dict[int, list[Item]]
    of_tables: dict[int, list[Item]]


def _since(row: Migration, log: list[Json]) -> _Since:
    splits = _splits(row, log)
    sources = {source.pk for source, _ in splits}
    tables = {table.pk for _, table in splits}
    made = {c["pk"] for c in log if c["op"] == "insert" and c["model"] == "Dependency"}
    planned = set(row.steps.values_list("item", flat=True))
    found = _Since(tuple(splits), defaultdict(list), defaultdict(list))
    rows = Dependency.objects.filter(item__region_id=row.region_id).exclude(item__kind="source")
    new = [pk for pk, *_ in rows.values_list("pk", "needs_id") if pk not in made]
    for start in range(0, len(new), 500):
        part = Dependency.objects.filter(pk__in=new[start : start + 500])
        for one in part.select_related("item__schema__database"):
            if one.needs_id in tables:
                found.of_tables[one.needs_id].append(one.item)
            elif one.needs_id in sources and one.item.gid not in planned:
                found.of_sources[one.needs_id].append(one.item)
    return found


def _unwritable(row: Migration, log: list[Json]) -> Iterator[Blocker]:
    """New objects that could not be told apart: those that read a source under its new name."""
    since = _since(row, log)
    for source, table in since.splits:
        for item in since.of_sources.get(source.pk, ()):
            name = dotted(path_of(item))
            if item.kind == "table":
                if _renamed(item, path_of(source), path_of(table)) is None:
                    problem = f"its definition cannot be told the source's old name {table.name}"
                    yield Blocker(item.gid, name, problem, "Drop it first.")
                continue
            problem = f"it reads the progress of {source.name}, which will have data again"
            yield Blocker(item.gid, name, problem, "Drop it first.")


def _renamed(item: Item, old: Path, new: Path) -> str | None:
    try:
        return renamed(item.create_sql, old, new)
    except HeadraceError:
        return None


def _later(row: Migration, log: list[Json]) -> list[Item]:
    """Let what came since follow: tables of the source its name, readers of the table the id."""
    changed: list[Item] = []
    since = _since(row, log)
    for source, table in since.splits:
        for item in since.of_sources.get(source.pk, ()):
            text = _renamed(item, path_of(source), path_of(table))
            if text is not None and text != item.create_sql:
                item.create_sql = text
                item.save(update_fields=["create_sql"])
                changed.append(item)
        for item in since.of_tables.get(table.pk, ()):
            Dependency.objects.filter(item=item, needs=table).update(needs=source)
            changed.append(item)
    return changed


def _tell_items(
    row: Migration, region: Region, user: str, followers: list[Item]
) -> tuple[str, ...]:
    """An audit event for everything that is as it was, and for what followed."""
    audit = history.Audit(region, user, timezone.now())
    ids: list[str] = []
    for item, new_item, kind, name in row.steps.order_by("-number").values_list(
        "item", "new_item", "kind", "name"
    ):
        gid = item or new_item
        details = {"id": gid, "migration": f"m{row.number}", "name": name, "action": "rollback"}
        audit.add("alter" if item else "drop", kind or "table", gid, details)
        ids.append(gid)
    for follower in followers:
        details = {"id": follower.gid, "migration": f"m{row.number}", "action": "rollback"}
        audit.add("alter", follower.kind, follower.gid, details)
        ids.append(follower.gid)
    audit.write()
    return tuple(dict.fromkeys(ids))
