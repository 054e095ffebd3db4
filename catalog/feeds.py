"""Which feed a source shares, and when a feed has to go."""

from __future__ import annotations

import datetime as dt

from catalog import history
from catalog.models import Feed, FeedProgress, Region, SourceDetails
from catalog.plan.picture import SourceFacts


class FeedWriter:
    """Gives sources their feed inside a commit: one per upstream and publication."""

    def __init__(self, region: Region, now: dt.datetime) -> None:
        self._region = region
        self._now = now

    def share(self, facts: SourceFacts, upstream: str) -> Feed:
        """The running feed of that upstream; a new one when there is none."""
        found = Feed.objects.filter(
            region=self._region,
            identity=upstream,
            publication=facts.publication,
            desired=Feed.Desired.RUNNING,
        ).first()
        if found is not None:
            return found
        gid = f"f{self._region.next_feed}"
        self._region.next_feed += 1
        slot = ""
        if facts.type == "postgres":
            slot = f"headrace_{self._region.installation.hex[:12]}_{gid}"
        feed = Feed.objects.create(
            region=self._region,
            gid=gid,
            kind=facts.type,
            identity=upstream,
            publication=facts.publication,
            slot=slot,
        )
        FeedProgress.objects.create(feed=feed, changed_at=self._now)
        history.status(self._region, gid, "created", self._now)
        return feed

    def release(self, feed: Feed) -> None:
        """A source let go of its feed; without another one the feed is to be dropped."""
        if not SourceDetails.objects.filter(feed=feed).exists():
            feed.desired = Feed.Desired.DROPPED
            feed.save(update_fields=["desired"])
