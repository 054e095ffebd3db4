"""Subscribers of a table and of a view lose the server, their connection or what computes their
changes, and go on after the last progress that they kept: no gap, no repeat."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.checker.following import Follower, Rows
from tests.faults.field import Field, Wound, until
from tests.faults.views import patience

pytestmark = [
    pytest.mark.faults,
    pytest.mark.spark,
    pytest.mark.postgres,
    pytest.mark.timeout(3600),
]
TURNOVER = "SELECT debit, count(*) AS n, sum(amount) AS total FROM ledger GROUP BY debit"


@pytest.fixture(scope="module")
def followers(field: Field) -> Iterator[tuple[Follower, ...]]:
    """One of a table that changes all the time, and one of a view over another."""
    field.patiently(f"CREATE MATERIALIZED VIEW turnover AS {TURNOVER}")
    made = (Follower(field.product, "accounts"), Follower(field.product, "turnover"))
    for follower in made:
        follower.start()
        until(lambda: follower.progress > 0, "silent", patience())  # noqa: B023 (called at once)
    yield made
    for follower in made:
        follower.stop()
    field.patiently("DROP MATERIALIZED VIEW turnover")


@pytest.mark.parametrize("victim", ["connection", "web", "spark", "views"])
def test_resumed(field: Field, followers: tuple[Follower, ...], victim: str) -> None:
    wound = Wound(victim, "subscribers")
    field.wounds.append(wound)
    resumed = [follower.resumed for follower in followers]
    if victim == "connection":
        for follower in followers:
            follower.cut()
        moment = field.now()
    else:
        moment = field.strike(victim)
    field.recover(wound, moment, patience())
    for follower, before in zip(followers, resumed, strict=True):
        progress, seen = told_anew(field, follower)
        assert seen == there(field, follower, progress - 1)
        assert not follower.wrong, follower.wrong[:3]
        assert follower.renewed == 0
        assert follower.resumed > before or victim in {"spark", "views"}


def told_anew(field: Field, follower: Follower) -> tuple[int, Rows]:
    """The follower's next moment after now."""
    now = int(field.patiently("SELECT mz_now()")[0][0])
    until(
        lambda: follower.progress > now or follower.ended, f"{follower.name}: silent", patience()
    )
    return follower.moment()


def there(field: Field, follower: Follower, time: int) -> Rows:
    """The relation's rows at a time (ms)."""
    columns = ", ".join(follower.columns)
    rows = field.patiently(f"SELECT {columns} FROM {follower.name} AS OF {time}")
    return Rows(tuple(row) for row in rows)
