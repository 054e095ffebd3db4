"""Rounds: a random victim at a random moment of streaming or of a snapshot. HEADRACE_ROUNDS says
how many, HEADRACE_SEED which."""

from __future__ import annotations

import os
import random
import time

import pytest

from tests.faults.field import Field, Wound
from tests.faults.processes import VICTIMS

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.postgres]
ROUNDS = int(os.environ.get("HEADRACE_ROUNDS") or "3")
SEED = int(os.environ.get("HEADRACE_SEED") or "7")


@pytest.mark.parametrize("number", range(ROUNDS))
def test_round(field: Field, number: int) -> None:
    pick = random.Random(SEED * 1000 + number)
    victim, snapshot, wait = pick.choice(VICTIMS), pick.random() < 0.5, pick.uniform(0, 4)
    wound = Wound(victim, f"round {number}{' snapshot' if snapshot else ''}")
    field.wounds.append(wound)
    tables = {field.new_table(): "wide"} if snapshot else {}
    time.sleep(wait)
    field.recover(wound, field.strike(victim))
    field.compare(wound, tables)
