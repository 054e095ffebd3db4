"""TPCH: the benchmark's eight tables; with a TICK INTERVAL every tick rewrites one order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from ingest.errors import Terminal
from ingest.feeds.generators import noise
from ingest.feeds.generators.kind import Change, Values
from ingest.feeds.generators.tpch_tables import (
    COLOURS,
    CONTAINERS,
    INSTRUCTIONS,
    LINEITEM,
    METALS,
    MODES,
    NATIONS,
    ORDERS,
    PRIORITIES,
    REGIONS,
    SEGMENTS,
    SIZES,
    TABLES,
    WORDS,
)

_FIRST_DAY = dt.date(1992, 1, 1)
_DAYS = 2406
_TODAY = dt.date(1995, 6, 17)


class Tpch:
    """The generator. Order n (from 1) is rewritten at ticks n, n + orders, n + 2 x orders, ..."""

    tables = TABLES

    def __init__(self, options: Mapping[str, str]) -> None:
        try:
            scale = Decimal(options.get("SCALE FACTOR", "0.01"))
        except ArithmeticError:
            raise Terminal("invalid SCALE FACTOR", sqlstate="22023") from None
        self._seed = int(options.get("SEED", "1"))
        self._suppliers = max(4, int(10_000 * scale))
        self._parts = max(4, int(200_000 * scale))
        self._customers = max(3, int(150_000 * scale))
        self._orders = max(1, int(1_500_000 * scale))
        self._rows: dict[int, Callable[[int], Iterator[Values]]] = {
            1: lambda _: (self._supplier(n) for n in range(1, self._suppliers + 1)),
            2: lambda _: (self._part(n) for n in range(1, self._parts + 1)),
            3: lambda _: (
                self._partsupp(n, i) for n in range(1, self._parts + 1) for i in range(4)
            ),
            4: lambda _: (self._customer(n) for n in range(1, self._customers + 1)),
            ORDERS: self._all_orders,
            LINEITEM: self._all_lines,
            7: lambda _: ((n, *row, self._comment(7, n)) for n, row in enumerate(NATIONS)),
            8: lambda _: ((n, name, self._comment(8, n)) for n, name in enumerate(REGIONS)),
        }

    def state(self, identity: int, tick: int) -> Iterator[Values]:
        """All rows of one table after a tick."""
        return self._rows[identity](tick)

    def changes(self, tick: int) -> Iterator[Change]:
        """One order and its lines, rewritten."""
        order = (tick - 1) % self._orders + 1
        version = (tick - 1) // self._orders + 1
        yield Change(ORDERS, "u", self._order(order, version))
        before = list(self._lines(order, version - 1))
        after = list(self._lines(order, version))
        for index, row in enumerate(after):
            yield Change(LINEITEM, "u" if index < len(before) else "i", row)
        for row in before[len(after) :]:
            yield Change(LINEITEM, "d", row)

    def _version(self, order: int, tick: int) -> int:
        return 0 if tick < order else (tick - order) // self._orders + 1

    def _all_orders(self, tick: int) -> Iterator[Values]:
        for order in range(1, self._orders + 1):
            yield self._order(order, self._version(order, tick))

    def _all_lines(self, tick: int) -> Iterator[Values]:
        for order in range(1, self._orders + 1):
            yield from self._lines(order, self._version(order, tick))

    def _supplier(self, n: int) -> Values:
        nation = self._number(25, 1, n)
        return (
            n,
            f"Supplier#{n:09d}",
            self._comment(1, n),
            nation,
            self._phone(nation, n),
            self._balance(1, n),
            self._comment(11, n),
        )

    def _part(self, n: int) -> Values:
        maker = self._number(5, 2, n) + 1
        return (
            n,
            noise.text(COLOURS, 5, self._seed, 2, n),
            f"Manufacturer#{maker}",
            f"Brand#{maker}{self._number(5, 22, n) + 1}",
            f"{noise.pick(SIZES, self._seed, 23, n)} {noise.pick(METALS, self._seed, 24, n)}",
            self._number(50, 25, n) + 1,
            noise.pick(CONTAINERS, self._seed, 26, n),
            self._price(n),
            self._comment(2, n),
        )

    def _partsupp(self, part: int, index: int) -> Values:
        supplier = (part + index * (self._suppliers // 4)) % self._suppliers + 1
        cost = Decimal(self._number(99_901, 3, part, index) + 100).scaleb(-2)
        count = self._number(9_999, 31, part, index) + 1
        return part, supplier, count, cost, self._comment(3, part, index)

    def _customer(self, n: int) -> Values:
        nation = self._number(25, 4, n)
        return (
            n,
            f"Customer#{n:09d}",
            self._comment(4, n),
            nation,
            self._phone(nation, n),
            self._balance(4, n),
            noise.pick(SEGMENTS, self._seed, 4, n),
            self._comment(44, n),
        )

    def _order(self, n: int, version: int) -> Values:
        lines = list(self._lines(n, version))
        total = sum((line[5] for line in lines), Decimal(0))
        states = {line[9] for line in lines}
        return (
            n,
            self._number(self._customers, 5, n) + 1,
            states.pop() if len(states) == 1 else "P",
            total,
            self._day(n, version),
            noise.pick(PRIORITIES, self._seed, 5, n, version),
            f"Clerk#{self._number(1_000, 51, n, version) + 1:09d}",
            0,
            self._comment(5, n, version),
        )

    def _lines(self, order: int, version: int) -> Iterator[Values]:
        for line in range(1, self._number(7, 6, order, version) + 2):
            yield self._line(order, version, line)

    def _line(self, order: int, version: int, line: int) -> Values:
        spot = (order, version, line)
        part = self._number(self._parts, 61, *spot) + 1
        supplier = self._partsupp(part, self._number(4, 62, *spot))[1]
        count = self._number(50, 63, *spot) + 1
        shipped = self._day(order, version) + dt.timedelta(self._number(121, 64, *spot) + 1)
        received = shipped + dt.timedelta(self._number(30, 66, *spot) + 1)
        done = received <= _TODAY
        return (
            order,
            part,
            supplier,
            line,
            Decimal(count),
            self._price(part) * count,
            Decimal(self._number(11, 67, *spot)).scaleb(-2),
            Decimal(self._number(9, 68, *spot)).scaleb(-2),
            ("R" if self._number(2, 69, *spot) else "A") if done else "N",
            "F" if shipped <= _TODAY else "O",
            shipped,
            self._day(order, version) + dt.timedelta(self._number(61, 65, *spot) + 30),
            received,
            noise.pick(INSTRUCTIONS, self._seed, 70, *spot),
            noise.pick(MODES, self._seed, 71, *spot),
            self._comment(6, *spot),
        )

    def _day(self, order: int, version: int) -> dt.date:
        return _FIRST_DAY + dt.timedelta(self._number(_DAYS - 151, 50, order, version))

    def _number(self, below: int, *parts: int) -> int:
        return noise.number(below, self._seed, *parts)

    def _comment(self, *parts: int) -> str:
        return noise.text(WORDS, 4 + self._number(4, 9, *parts), self._seed, *parts)

    def _balance(self, *parts: int) -> Decimal:
        return Decimal(self._number(1_099_998, 91, *parts) - 99_999).scaleb(-2)

    def _phone(self, nation: int, n: int) -> str:
        a, b, c = (self._number(m, 92, n, i) for i, m in enumerate((900, 900, 9000)))
        return f"{nation + 10}-{a + 100}-{b + 100}-{c + 1000}"

    @staticmethod
    def _price(part: int) -> Decimal:
        return Decimal(90_000 + part // 10 % 20_001 + 100 * (part % 1_000)).scaleb(-2)
