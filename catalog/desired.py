"""What the data plane should be doing, derived from committed rows and from nothing else."""

from __future__ import annotations

from catalog import snapshot
from catalog.models import ExportProgress
from catalog.models import Feed as FeedRow
from catalog.names import Path
from catalog.plan.definitions import view_query
from catalog.plan.picture import Entry, Picture, SourceFacts, Version
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.query.compile import MaintainedQuery, compile_view
from catalog.time.inputs import input_of
from catalog.upstream.targets import generator, postgres_target, unseal
from ingest.contract.commands import Export, Feed, Generator, Webhooks
from ingest.contract.relation import Relation
from ingest.contract.upstream import PostgresTarget
from ingest.contract.views import View

MOST_COMPILED = 2048
_Meaning = tuple[tuple[str, Path, str, Relation], ...]
_compiled: dict[tuple[str, str, _Meaning], MaintainedQuery] = {}


def wanted_feeds(region: str) -> tuple[str, ...]:
    """Ids of the feeds that should run."""
    rows = FeedRow.objects.filter(region__name=region, desired=FeedRow.Desired.RUNNING)
    return tuple(rows.order_by("pk").values_list("gid", flat=True))


def dropped_feeds(region: str) -> tuple[str, ...]:
    """Ids of the feeds whose slot and log have to go."""
    rows = FeedRow.objects.filter(region__name=region, desired=FeedRow.Desired.DROPPED)
    return tuple(rows.order_by("pk").values_list("gid", flat=True))


def sources_of(picture: Picture, feed: str) -> tuple[Entry, ...]:
    """The sources that share a feed, oldest first."""
    return tuple(
        entry
        for entry in picture.entries.values()
        if isinstance(entry.facts, SourceFacts) and entry.facts.feed == feed
    )


def feed_command(region: str, gid: str) -> Feed | None:
    """The feed as the data plane runs it; None when it should not run.

    Raises PermissionDenied or UpstreamProblem when its host may not or cannot be reached.
    """
    row = FeedRow.objects.filter(region__name=region, gid=gid).first()
    picture = snapshot.current(region)
    sources = sources_of(picture, gid)
    if row is None or row.desired != FeedRow.Desired.RUNNING or not sources:
        return None
    return Feed(
        id=gid,
        epoch=row.epoch,
        target=_target(picture, sources[0]),
        publication=row.publication,
        slot=row.slot,
        exports=exports_of(picture, sources),
    )


def drop_command(region: str, gid: str) -> Feed | None:
    """What is needed to drop a feed's slot and log; None when the feed is gone."""
    row = FeedRow.objects.filter(region__name=region, gid=gid).first()
    if row is None:
        return None
    sealed = row.definition.get("target", "")
    target: PostgresTarget | Generator = unseal(sealed) if sealed else Generator("counter", 0)
    return Feed(gid, row.epoch, target, row.publication, row.slot)


def _target(picture: Picture, source: Entry) -> PostgresTarget | Generator | Webhooks:
    facts = source.source
    if facts.type == "webhook":
        return Webhooks()
    if facts.type != "postgres":
        return generator(facts)
    return postgres_target(picture.region, picture.entries[facts.connection].connection)


def exports_of(picture: Picture, sources: tuple[Entry, ...]) -> tuple[Export, ...]:
    """The tables that the sources' feed fills, oldest first."""
    tables = [table for source in sources for table in picture.tables_of(source.id)]
    rows = ExportProgress.objects.filter(item__region__name=picture.region, readable_from__gt=0)
    hydrated = set(rows.values_list("item__gid", flat=True))
    return tuple(
        export_of(table, hydrated=table.id in hydrated)
        for table in sorted(tables, key=lambda table: int(table.id[1:]))
    )


def export_of(table: Entry, *, hydrated: bool) -> Export:
    """One table as the data plane fills it."""
    facts = table.table
    return Export(
        table=table.id,
        shard=table.shard,
        namespace=facts.namespace,
        name=facts.reference,
        reference=facts.identity,
        columns=facts.columns,
        key=table.relation.key,
        snapshot_group=facts.snapshot_group,
        hydrated=hydrated,
    )


def view_command(picture: Picture, entry: Entry, version: Version | None = None) -> View:
    """A maintained view or replacement as the data plane keeps it, or a `version` that it had.

    Raises StatementError when an earlier version reads what is not there any more.
    """
    create_sql = entry.create_sql if version is None else version.create_sql
    needs = entry.needs if version is None else version.needs
    kept = _maintained(picture, create_sql, entry.owner, needs)
    inputs = {name: input_of(picture.entries[item], picture) for name, item in kept.inputs.items()}
    return View(
        item=entry.id,
        shard=entry.shard if version is None else version.shard,
        relation=entry.relation if version is None else version.relation,
        inputs=inputs,
        root=kept.block,
        key=kept.key_of((entry if version is None else version).relation.names),
        constant=entry.view.sealed or not inputs,
    )


def _meaning(picture: Picture, needs: tuple[str, ...]) -> _Meaning:
    """What a definition's text means here: the names, columns and bodies of all that it reads."""
    found: dict[str, tuple[str, Path, str, Relation]] = {}
    stack = list(needs)
    while stack:
        entry = picture.entries.get(stack.pop())
        if entry is not None and entry.id not in found:
            text = entry.create_sql if entry.kind == "view" else ""
            found[entry.id] = (entry.id, entry.path, text, entry.relation)
            stack += entry.needs if entry.kind == "view" else ()
    return tuple(found[item] for item in sorted(found))


def _maintained(
    picture: Picture, create_sql: str, owner: str, needs: tuple[str, ...]
) -> MaintainedQuery:
    """Compiled once: a changed catalog seldom changes what a definition reads."""
    key = (create_sql, owner, _meaning(picture, needs))
    found = _compiled.get(key)
    if found is None:
        names = ReadableNames(Scope(picture, owner))
        found = compile_view(view_query(create_sql), names)
        if len(_compiled) >= MOST_COMPILED:
            _compiled.clear()
        _compiled[key] = found
    return found
