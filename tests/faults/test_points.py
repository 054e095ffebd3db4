"""The product's processes kill themselves at each named point, once; their next life goes on."""

from __future__ import annotations

import psycopg
import pytest

from tests.faults import processes
from tests.faults.field import Field, Wound, until

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.postgres]


def dies(field: Field, process: str, pids: set[int]) -> None:
    """Wait until none of the armed processes lives."""

    def dead() -> bool:
        return not pids & {p.pid for p in processes.find(field.product, process)}

    until(dead, f"{process} passed its fail point")


def pids(field: Field, process: str) -> set[int]:
    until(lambda: bool(processes.find(field.product, process)), f"no {process}")
    return {p.pid for p in processes.find(field.product, process)}


@pytest.mark.parametrize("point", ["log written:3", "log committed:3", "confirmed:3"])
def test_dies_while_streaming(field: Field, point: str) -> None:
    wound = Wound(f"feed at {point}", "streaming")
    field.wounds.append(wound)
    moment = field.arm("feed", point)
    dies(field, "feed", pids(field, "feed"))
    field.recover(wound, moment)
    field.compare(wound)


@pytest.mark.parametrize(
    "point", ["snapshot chunk", "last chunk", "log written:8", "log committed:8"]
)
def test_dies_in_a_snapshot(field: Field, point: str) -> None:
    wound = Wound(f"feed at {point}", "snapshot")
    field.wounds.append(wound)
    table = field.new_table()
    moment = field.arm("feed", point)
    dies(field, "feed", pids(field, "feed"))
    field.recover(wound, moment)
    field.compare(wound, {table: "wide"})


def test_dies_with_its_slot_made(field: Field) -> None:
    wound = Wound("feed at slot made", "first start")
    field.wounds.append(wound)
    before = pids(field, "feed")
    moment = field.arm_next("feed", "slot made")
    field.patiently("CREATE SOURCE other FROM POSTGRES CONNECTION bank (PUBLICATION 'second')")
    table = field.new_table("other")
    dies(field, "feed", pids(field, "feed") - before)
    field.recover(wound, moment)
    field.compare(wound, {table: "wide"}, sources=("shop", "other"))
    field.patiently("DROP SOURCE other CASCADE")
    field.compare(wound)


def test_dies_having_applied(field: Field) -> None:
    wound = Wound("worker at applied", "streaming")
    field.wounds.append(wound)
    table = field.new_table()
    field.recover(wound, field.now())
    moment = field.arm("worker", "applied")
    armed = pids(field, "worker")
    with psycopg.connect(field.dsn, autocommit=True) as session:
        session.execute("update wide set n = n + 1000")

    def dead() -> bool:
        field.send("apply", feed=field.feed())
        return not armed & {p.pid for p in processes.find(field.product, "worker")}

    until(dead, "the worker applied nothing", every=2)
    field.recover(wound, moment)
    field.compare(wound, {table: "wide"})
