"""kill -9 of every process while it snapshots and while it streams."""

from __future__ import annotations

import os

import pytest

from tests.faults.field import Field, Wound
from tests.faults.processes import VICTIMS

_ROUNDS = int(os.environ.get("HEADRACE_ROUNDS") or "3")
_IN_SNAPSHOTS = VICTIMS if _ROUNDS >= 20 else ("feed", "spark", "postgres")
pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.postgres]


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_while_streaming(field: Field, victim: str) -> None:
    wound = Wound(victim, "streaming")
    field.wounds.append(wound)
    field.recover(wound, field.strike(victim))
    field.compare(wound)
    assert_told(wound)


@pytest.mark.parametrize("victim", _IN_SNAPSHOTS)
def test_killed_in_a_snapshot(field: Field, victim: str) -> None:
    wound = Wound(victim, "snapshot")
    field.wounds.append(wound)
    table = field.new_table()
    field.await_snapshot()
    field.recover(wound, field.strike(victim))
    field.compare(wound, {table: "wide"})
    assert_told(wound)


def assert_told(wound: Wound) -> None:
    """A stop that lasted was explained within ten seconds, by whoever could answer."""
    if wound.victim in {"feed", "feeds", "spark", "postgres"} and wound.recovered > 12:
        assert wound.told is not None
        assert wound.told < 10
