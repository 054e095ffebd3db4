"""Materialized views in every state, as the maintainer would report them."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone

from catalog.models import Item, User, ViewDetails, ViewProgress, ViewVersion
from tests.console.pages.conftest import run

VIEWS = (
    "CREATE MATERIALIZED VIEW top_bids AS SELECT auction_id, max(amount) AS highest, "
    "count(*) AS bids FROM bids GROUP BY auction_id",
    "CREATE MATERIALIZED VIEW winners AS SELECT t.auction_id, t.highest, u.name "
    "FROM top_bids t JOIN bids b ON b.auction_id = t.auction_id AND b.amount = t.highest "
    'JOIN "Odd ""Name" u ON u.id = b.buyer',
    "CREATE MATERIALIZED VIEW daily WITH (REFRESH EVERY '1 hour', RETAIN HISTORY FOR '7 days') AS "
    "SELECT bid_time::date AS day, sum(amount) AS total FROM bids GROUP BY 1",
    "CREATE MATERIALIZED VIEW constant AS SELECT 1 AS one, 'two' AS two",
    "CREATE VIEW dearest AS SELECT * FROM winners WHERE highest > 90",
    "CREATE REPLACEMENT top_bids_next FOR MATERIALIZED VIEW top_bids WITH "
    "(APPLY WHEN HYDRATED, MAX ROWS 1000, MAX PERCENT 5, WINDOW '02:00-04:00') AS "
    "SELECT auction_id, max(amount) AS highest, count(*) AS bids, min(amount) AS lowest "
    "FROM bids WHERE amount > 0 GROUP BY auction_id",
    "CREATE REPLACEMENT top_bids_slow FOR MATERIALIZED VIEW top_bids AS "
    "SELECT auction_id, max(amount) AS highest, count(DISTINCT buyer) AS bids "
    "FROM bids GROUP BY auction_id",
)


def seed_views(user: User) -> dict[str, str]:
    """Make them; ids by name."""
    for sql in VIEWS:
        run(user, sql)
    now = round(timezone.now().timestamp() * 1000)
    _report("top_bids", rows=48_210, bytes=2_310_400, complete_through=now - 900)
    _report("winners", rows=48_190, bytes=4_120_000, complete_through=now - 900)
    _report("daily", rows=31, bytes=2_048, complete_through=now - 240_000)
    _report("constant", rows=1, bytes=400, complete_through=now)
    _report(
        "top_bids_next",
        rows=47_998,
        bytes=3_000_000,
        complete_through=now - 900,
        staged_added=120,
        staged_removed=332,
        staged_changed=1_044,
        staged_bytes=182_000,
        staged_as_of=now - 900,
    )
    slow = ViewProgress.objects.filter(item__name="top_bids_slow")
    slow.update(status="starting", percent=37, rate=81_250.0)
    _version_before("top_bids", now)
    return dict(Item.objects.values_list("name", "gid"))


def _report(name: str, **fields: int) -> None:
    reason = "LIMIT keeps rows by their place" if name == "winners" else ""
    ViewProgress.objects.filter(item__name=name).update(
        status="running",
        hydrated=True,
        percent=100,
        how="recompute" if reason else "incremental",
        reason=reason,
        readable_from=1_700_000_000_000,
        **fields,
    )
    ViewDetails.objects.filter(item__name="top_bids").update(key=["auction_id"])


def _version_before(name: str, now: int) -> None:
    """As if a replacement had been applied an hour ago."""
    present = ViewVersion.objects.get(item__name=name)
    fields = {
        field.name: getattr(present, field.name)
        for field in ViewVersion._meta.fields
        if field.name not in {"id", "number", "shard"}
    }
    switched = now - 3_600_000
    fields |= {
        "until": switched,
        "create_sql": present.create_sql.replace("MAX(", "MIN(").replace("max(", "min("),
        "expires_at": timezone.now() + dt.timedelta(hours=23),
        "made_at": timezone.now() - dt.timedelta(days=2),
    }
    present.number, present.since, present.event = 2, switched, "applied"
    present.replacement, present.replacement_name = "u99", "headrace.public.top_bids_fixed"
    present.save()
    ViewVersion.objects.create(number=1, shard=f"{present.shard}-before", **fields)
