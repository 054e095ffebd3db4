"""Which feed a source shares, and when a feed has to go."""

from __future__ import annotations

import datetime as dt

from catalog import history
from catalog.models import ConnectionDetails, Feed, FeedProgress, Region, SourceDetails
from catalog.plan.picture import ConnectionFacts, SourceFacts
from catalog.upstream.targets import seal, unchecked_target


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

    def release(self, source: SourceDetails) -> Feed:
        """A source lets go of its feed; without another one the feed is to be dropped.

        Called while the source's connection is still there: what dropping the slot needs is kept.
        """
        feed = source.feed
        if SourceDetails.objects.filter(feed=feed).exclude(pk=source.pk).exists():
            return feed
        if source.connection is not None:
            details = ConnectionDetails.objects.get(item=source.connection)
            facts = ConnectionFacts(details.type, details.options)
            feed.definition = {"target": seal(unchecked_target(self._region.name, facts))}
        feed.desired = Feed.Desired.DROPPED
        feed.save(update_fields=["desired", "definition"])
        return feed
