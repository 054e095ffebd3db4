"""Taking a migration back: what it changed is again what it was, all of it or nothing.

What came since is kept: new tables of a renamed source are told its old name, new readers of the
data depend on the source again. Where that cannot be, the rollback is refused with what to do.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

from django.db import transaction
from django.utils import timezone

from catalog import history, leases, signals
from catalog.errors import InvalidStatement
from catalog.migrate.apply import LEASE, At, _nowhere, apply, claim, give_back, new_owner
from catalog.migrate.changes import Json, changed_since, undo
from catalog.migrate.plan import Blocker
from catalog.migrate.store import migration, tell
from catalog.migrate.writer import path_of
from catalog.models import Dependency, Item, Migration, MigrationUndo, Region
from catalog.names import Path, dotted
from catalog.plan.definitions import renamed
from ingest.errors import HeadraceError


def roll_back(region: str, gid: str, user: str, at: At = _nowhere, owner: str = "") -> Migration:
    """Take an applied migration back, or go on with one whose process ended.

    Raises InvalidStatement when it was not applied, when its time is over, and where something
    that came since is in the way.
    """
    row = migration(region, gid)
    if row.expires_at is not None and row.expires_at < timezone.now():
        message = f"migration {gid} can no longer be rolled back"
        raise InvalidStatement(message, detail=f"Until {row.expires_at:%Y-%m-%d %H:%M} it could.")
    claim(row, user, ("applied", "rolling back"), owner or new_owner())
    at("claimed")
    try:
        ids = _take_back(row, user, at)
    except Exception as error:
        give_back(row, user, error, Migration.State.APPLIED)
        raise
    at("committed")
    revision = Region.objects.values_list("revision", flat=True).get(name=region)
    signals.committed.send(sender=None, region=region, revision=revision, ids=ids)
    at("told")
    return migration(region, gid)


def rollback_blockers(row: Migration) -> tuple[Blocker, ...]:
    """What is in the way of taking an applied migration back, as things are."""
    log = _log(row)
    return tuple(_blockers(row, log))


def resume(region: str, at: At = _nowhere) -> tuple[str, ...]:
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
    return list(rows.values_list("change", flat=True))


def _take_back(row: Migration, user: str, at: At) -> tuple[str, ...]:
    with transaction.atomic():
        began = time.monotonic()
        region = Region.objects.select_for_update().get(pk=row.region_id)
        at("locked")
        log = _log(row)
        blockers = tuple(_blockers(row, log))
        if blockers:
            first = blockers[0]
            message = f"{first.name}: {first.problem}"
            told = "; ".join(f"{b.name}: {b.problem}" for b in blockers[1:6])
            raise InvalidStatement(message, detail=told or None, hint=first.remedy)
        at("checked")
        followers = _later(row, log, region)
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
    rows = Item.objects.select_related("schema__database").in_bulk([*pairs, *pairs.values()])
    return [(rows[a], rows[b]) for a, b in pairs.items() if a in rows and b in rows]


def _new_dependents(item: Item, row: Migration, log: list[Json]) -> list[Item]:
    """What needs an item since the migration."""
    made = {c["pk"] for c in log if c["op"] == "insert" and c["model"] == "Dependency"}
    planned: set[str] = set(row.steps.values_list("item", flat=True))
    rows = Dependency.objects.filter(needs=item).select_related("item__schema__database")
    return [
        dependency.item
        for dependency in rows
        if dependency.pk not in made
        and (item.kind == "table" or dependency.item.gid not in planned)
    ]


def _unwritable(row: Migration, log: list[Json]) -> Iterator[Blocker]:
    """New objects that could not be told apart: those that read a source under its new name."""
    for source, table in _splits(row, log):
        for item in _new_dependents(source, row, log):
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


def _later(row: Migration, log: list[Json], region: Region) -> list[Item]:
    """Let what came since follow: tables of the source its name, readers of the table the id."""
    changed: list[Item] = []
    for source, table in _splits(row, log):
        for item in _new_dependents(source, row, log):
            text = _renamed(item, path_of(source), path_of(table))
            if text is not None and text != item.create_sql:
                item.create_sql = text
                item.save(update_fields=["create_sql"])
                changed.append(item)
        for item in _new_dependents(table, row, log):
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
