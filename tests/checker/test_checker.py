"""Random views, replacements and undos over random changes: a view is its query, at any time.

HEADRACE_CHECK says for how many seconds; `make check-views` lets it run for half an hour, and
kills a process of the product now and then.
"""

from __future__ import annotations

import os
import random
import time

import pytest

from tests.checker.checking import Checker
from tests.checker.world import World
from tests.faults import processes
from tests.services.postgres import Postgres
from tests.services.product import Product

SECONDS = float(os.environ.get("HEADRACE_CHECK", "60"))
SEED = int(os.environ.get("HEADRACE_SEED", "0")) or random.SystemRandom().randrange(2**31)
VICTIMS = ("worker", "views", "spark", "web")
KILL_EVERY = 60.0
pytestmark = [
    pytest.mark.faults,
    pytest.mark.postgres,
    pytest.mark.spark,
    pytest.mark.timeout(900 + 2 * SECONDS),
]


def test_views_are_their_queries_at_any_time(postgres: Postgres, checked: Product) -> None:
    pick = random.Random(SEED)
    world = World(postgres, checked, pick)
    world.make()
    checker = Checker(world, pick)
    world.start(pause=0.4)
    began, killed = time.monotonic(), time.monotonic()
    try:
        while time.monotonic() - began < SECONDS:
            for _ in range(pick.randrange(1, 5)):
                checker.act()
            checker.check()
            if time.monotonic() - killed > KILL_EVERY and SECONDS > 2 * KILL_EVERY:
                killed = time.monotonic()
                victim = pick.choice(VICTIMS)
                processes.kill(processes.find(checked, victim))
                checker.done[f"kill {victim}"] += 1
            assert not checker.wrong, (SEED, checker.wrong[0])
        world.stop()
        checker.settle()
        assert not checker.wrong, (SEED, checker.wrong[0])
    finally:
        checker.close()
        world.stop()
        print(f"seed {SEED}: {checker.compared} compared, {dict(checker.done)}")
    assert checker.compared > 0
