"""What the catalog's picture holds of materialized views: their details and their versions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any

from catalog.models import Region, ViewDetails, ViewVersion
from catalog.plan.picture import Guard, Version, ViewFacts
from catalog.stored import Json, relation
from ingest.contract.commands import Segment


@dataclass(frozen=True)
class _Short:
    """What is needed of every version to know a view's segments, and what an undo brings back."""

    pk: int
    number: int
    shard: str
    since: int
    replacement: str


_SHORT = ("item_id", "pk", "number", "shard", "since", "replacement_name")


_DETAILS = ("item_id", "target__gid", "cluster", "key", "options", "guard", "sealed")


def view_facts(region: Region) -> dict[int, ViewFacts]:
    """The facts of the region's materialized views by item; three queries."""
    rows = ViewDetails.objects.filter(item__region=region)
    details: list[dict[str, Any]] = [dict(row) for row in rows.values(*_DETAILS)]
    if not details:
        return {}
    histories = _histories(region)
    undone = {item: _undone_by(history) for item, history in histories.items()}
    kept = _kept([pk for pk in undone.values() if pk is not None])
    return {
        row["item_id"]: _facts(row, histories[row["item_id"]], kept.get(undone[row["item_id"]]))
        for row in details
        if row["item_id"] in histories
    }


def _histories(region: Region) -> dict[int, list[_Short]]:
    found: dict[int, list[_Short]] = defaultdict(list)
    rows = ViewVersion.objects.filter(item__region=region).order_by("item_id", "number")
    for item, *values in rows.values_list(*_SHORT):
        found[item].append(_Short(*values))
    return found


def _undone_by(history: list[_Short]) -> int | None:
    """The key of the version that was in force before the one whose data is in force now."""
    for index, version in enumerate(history):
        if version.shard == history[-1].shard:
            return history[index - 1].pk if index else None
    return None


def _kept(keys: list[int]) -> dict[int | None, Version]:
    return {
        row.pk: Version(
            number=row.number,
            shard=row.shard,
            create_sql=row.create_sql,
            relation=relation(row.columns),
            key=tuple(row.key),
            needs=tuple(row.needs),
            until=row.until,
            expires_at=row.expires_at.isoformat(" ", "seconds") if row.expires_at else "",
            replacement=row.replacement_name,
        )
        for row in ViewVersion.objects.filter(pk__in=keys)
    }


def _facts(row: dict[str, Any], history: list[_Short], before: Version | None) -> ViewFacts:
    return ViewFacts(
        target=row["target__gid"] or "",
        cluster=row["cluster"],
        key=tuple(row["key"]),
        segments=_segments(history),
        sealed=row["sealed"],
        options=row["options"],
        guard=guard(row["guard"]),
        version=history[-1].number,
        applied=history[-1].replacement,
        before=before,
    )


def _segments(history: list[_Short]) -> tuple[Segment, ...]:
    """The shards since the last version whose data is gone."""
    found: list[Segment] = []
    for version in history:
        if version.shard:
            found.append(Segment(version.shard, version.since))
        else:
            found = []
    return tuple(found)


def guard_to_json(guard: Guard | None) -> Json:
    """When a replacement applies itself; empty when a person does it."""
    return {} if guard is None else asdict(guard)


def guard(fields: Json) -> Guard | None:
    """Read back what `guard_to_json` wrote."""
    if not fields:
        return None
    window = fields.get("window")
    return Guard(fields.get("rows"), fields.get("percent"), tuple(window) if window else None)
