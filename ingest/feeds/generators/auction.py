"""AUCTION: an auction house. Every tick is an auction or a bid; nine bids follow an auction."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

from ingest.contract.types import BIGINT, TEXT, Type
from ingest.feeds.generators import kind, noise
from ingest.feeds.generators.kind import Change, Clock, Table, Values

_MOMENT = Type("timestamp with time zone")
_COMPANIES = (
    "Alder Mill",
    "Birch & Sons",
    "Copper Kettle",
    "Driftwood",
    "Elm Street Books",
    "Foundry Nine",
    "Granite Works",
    "Harbour Light",
    "Ivory Tower",
    "Juniper Trading",
    "Kiln House",
    "Lantern",
    "Marble Arch",
    "Northern Post",
    "Old Quarry",
    "Pebble Beach",
)
_NAMES = ("Ada", "Ben", "Cleo", "Dara", "Eli", "Fay", "Gus", "Hana", "Ivo", "June", "Kai", "Lena")
_ITEMS = (
    "Best Pizza in Town",
    "City Bar Crawl",
    "Custom Art",
    "Gift Basket",
    "Signed Memorabilia",
)
_USERS = 120
_ROUND = 10

TABLES = (
    Table("auction", "organizations", 1, (("id", BIGINT), ("name", TEXT)), ("id",)),
    Table("auction", "users", 2, (("id", BIGINT), ("org_id", BIGINT), ("name", TEXT)), ("id",)),
    Table(
        "auction",
        "accounts",
        3,
        (("id", BIGINT), ("org_id", BIGINT), ("balance", BIGINT)),
        ("id",),
    ),
    Table(
        "auction",
        "auctions",
        4,
        (("id", BIGINT), ("seller", BIGINT), ("item", TEXT), ("end_time", _MOMENT)),
        ("id",),
    ),
    Table(
        "auction",
        "bids",
        5,
        (
            ("id", BIGINT),
            ("buyer", BIGINT),
            ("auction_id", BIGINT),
            ("amount", Type("integer")),
            ("bid_time", _MOMENT),
        ),
        ("id",),
    ),
)


class Auction:
    """The generator."""

    tables = TABLES

    def __init__(self, options: Mapping[str, str], clock: Clock) -> None:
        self._seed = kind.integer(options, "SEED", 1)
        self._clock = clock

    def state(self, identity: int, tick: int) -> Iterator[Values]:
        """All rows of one output after a tick."""
        if identity == 1:
            return ((n, name) for n, name in enumerate(_COMPANIES, 1))
        if identity == 2:
            return (self._user(n) for n in range(1, _USERS + 1))
        if identity == 3:
            return ((n, n, noise.number(10_000, 3, n)) for n in range(1, len(_COMPANIES) + 1))
        first, step = (1, _ROUND) if identity == 4 else (1, 1)
        events = (self._event(number) for number in range(first, tick + 1, step))
        return (event.row for event in events if event.identity == identity)

    def changes(self, tick: int) -> Iterator[Change]:
        """An auction or a bid."""
        yield self._event(tick)

    def _event(self, tick: int) -> Change:
        index = tick - 1
        auction = index // _ROUND + 1
        moment = dt.datetime.fromtimestamp(self._clock.time_of(tick) / 1000, dt.UTC)
        user = noise.number(_USERS, self._seed, tick) + 1
        if index % _ROUND == 0:
            item = noise.pick(_ITEMS, self._seed, tick, 1)
            return Change(4, "i", (auction, user, item, moment + dt.timedelta(seconds=10)))
        amount = noise.number(100, self._seed, tick, 2) + 1
        return Change(5, "i", (tick - auction, user, auction, amount, moment))

    @staticmethod
    def _user(number: int) -> Values:
        return number, noise.number(len(_COMPANIES), 2, number) + 1, noise.pick(_NAMES, 2, number)
