"""How materialized views become rows, and how their definitions change places.

Only `catalog.commit.writing` uses it, inside its transaction.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.conf import settings

from catalog.errors import StaleCatalog
from catalog.models import (
    Dependency,
    Item,
    ItemColumn,
    Job,
    Region,
    ViewDetails,
    ViewProgress,
    ViewVersion,
)
from catalog.names import dotted
from catalog.plan.picture import Entry, Version, ViewFacts
from catalog.stored import relation_to_json
from catalog.time.oracle import next_time, raise_read_floor
from catalog.view_facts import guard_to_json


@dataclass(frozen=True)
class Origin:
    """What puts a version in force: `event` and, for an applied one, the replacement."""

    event: str
    replacement: Entry | None = None


class ViewWriter:
    """One commit's changes to materialized views."""

    def __init__(self, region: Region, role: str, now: dt.datetime) -> None:
        self.region = region
        self.role = role
        self.now = now

    def details(self, item: Item, facts: ViewFacts, target: Item | None) -> ViewDetails:
        """The new view's own row."""
        return ViewDetails(
            item=item,
            target=target,
            cluster=facts.cluster,
            key=list(facts.key),
            options=facts.options,
            guard=guard_to_json(facts.guard),
            sealed=facts.sealed,
        )

    def progress(self, item: Item, entry: Entry) -> ViewProgress:
        """The row of the new view's data."""
        return ViewProgress(item=item, shard=entry.shard, status="created", changed_at=self.now)

    def version(
        self, item: Item, entry: Entry, origin: Origin, number: int = 1, since: int = 0
    ) -> ViewVersion:
        """The definition that comes into force."""
        replacement = origin.replacement
        return ViewVersion(
            item=item,
            number=number,
            shard=entry.shard,
            since=since,
            create_sql=entry.create_sql,
            columns=relation_to_json(entry.relation),
            key=list(entry.view.key),
            needs=list(entry.needs),
            event=origin.event,
            replacement=replacement.id if replacement else "",
            replacement_name=dotted(replacement.path) if replacement else "",
            user=self.role,
            made_at=self.now,
        )

    def switch(self, item: Item, old: Entry, new: Entry, since: int, origin: Origin) -> None:
        """Put `new` in the place of `old`, both the view `item`'s, from `since` (ms) on: no strict
        read that knows of it, in any session, is from before.

        Raises StaleCatalog when `old` has gone beyond that time, or `new` is not as far.
        """
        self._check_time(old, new, since)
        versions = ViewVersion.objects.filter(item=item)
        inforce = versions.get(until=0)
        inforce.until = since
        inforce.create_sql = old.create_sql
        inforce.expires_at = self.now + _retention(old.view)
        inforce.save()
        self.version(item, new, origin, inforce.number + 1, since).save(force_insert=True)
        versions.filter(shard=new.shard, until__gt=0).update(expires_at=None)
        facts = new.view
        Item.objects.filter(pk=item.pk).update(create_sql=new.create_sql, shard=new.shard)
        ViewDetails.objects.filter(item=item).update(
            cluster=facts.cluster,
            key=list(facts.key),
            options=facts.options,
            sealed=facts.sealed,
        )
        self._columns(item, old, new)
        self._needs(item, new)
        next_time(self.region.name, since)
        raise_read_floor(self.region.name, since)

    def still_kept(self, item: Item, version: Version) -> None:
        """Raises StaleCatalog when the version's data went since it was looked at."""
        kept = ViewVersion.objects.filter(item=item, number=version.number, shard=version.shard)
        if not kept.exists():
            message = "the catalog changed while the statement was planned"
            raise StaleCatalog(message, hint="Run the statement again.")

    def _check_time(self, old: Entry, new: Entry, since: int) -> None:
        """Raises StaleCatalog unless `since` is a time that no read of `old` has reached, and
        that `new` has come up to."""
        rows = ViewProgress.objects.select_for_update().filter(shard__in=[old.shard, new.shard])
        through = {row.shard: row.complete_through for row in rows.order_by("shard")}
        mine, other = through[old.shard], through[new.shard]
        if not mine < since <= other + 1:
            message = "the views moved on while the replacement was applied"
            detail = f"The target is complete through {mine}, the replacement through {other}."
            raise StaleCatalog(message, detail=detail, hint="Run the statement again.")

    def _columns(self, item: Item, old: Entry, new: Entry) -> None:
        kept = len(old.relation.columns)
        ItemColumn.objects.filter(item=item, position__gt=len(new.relation.columns)).delete()
        item.comments.filter(column__gt=len(new.relation.columns)).delete()
        ItemColumn.objects.bulk_create(
            ItemColumn(
                item=item,
                position=position,
                name=column.name,
                type=column.type.sql,
                nullable=column.nullable,
            )
            for position, column in enumerate(new.relation.columns, 1)
            if position > kept
        )

    def _needs(self, item: Item, new: Entry) -> None:
        Dependency.objects.filter(item=item).delete()
        rows = Item.objects.filter(region=self.region, gid__in=new.needs)
        by_gid = {row.gid: row for row in rows}
        Dependency.objects.bulk_create(
            Dependency(item=item, needs=by_gid[gid]) for gid in new.needs
        )

    def adopt(self, item: Item, shard: str) -> None:
        """The data of a replacement is the view's from now on; nothing is staged in it."""
        ViewProgress.objects.filter(shard=shard).update(
            item=item,
            staged_added=-1,
            staged_removed=-1,
            staged_changed=-1,
            staged_bytes=-1,
            staged_as_of=0,
        )

    def drop(self, item: Item, shard: str) -> None:
        """Let jobs remove all data that the view has or had."""
        shards = set(ViewVersion.objects.filter(item=item).values_list("shard", flat=True))
        self.drop_shards({shard, *shards})

    def drop_shards(self, shards: set[str]) -> None:
        """Let jobs remove data."""
        Job.objects.bulk_create(
            Job(region=self.region, kind="drop shard", subject=shard, due_at=self.now)
            for shard in sorted(shards - {""})
        )

    def retell(self, entry: Entry) -> None:
        """The definition in force is spelled as the item's is."""
        ViewVersion.objects.filter(item__region=self.region, item__gid=entry.id, until=0).update(
            create_sql=entry.create_sql
        )


def _retention(facts: ViewFacts) -> dt.timedelta:
    """How long a replaced definition is kept: as the region does, or longer as the view says."""
    history = int(facts.options.get("retain history", 0)) / 1000
    return dt.timedelta(seconds=max(settings.HEADRACE_UNDO_SECONDS, history))
