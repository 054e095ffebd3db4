"""`python -m bench [measure ..]`: a whole product, a real PostgreSQL and the peers, in one run."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module

import django

from bench import adding, freshness, picker, selects, snapshot, subscribers, views
from bench.metric import Metric, table, write
from tests.services import postgres, product
from tests.services.postgres import Postgres
from tests.services.product import Product

Measure = Callable[[Postgres, Product, argparse.Namespace], Iterable[Metric]]
MEASURES: dict[str, Measure] = {
    "picker": lambda server, running, options: picker.measure(server, running),
    "migrations": lambda server, running, options: _migrations(),
    "freshness": lambda server, running, options: freshness.measure(
        server, running, options.seconds
    ),
    "subscribers": lambda server, running, options: subscribers.measure(
        server, running, options.seconds, options.readers
    ),
    "adding": lambda server, running, options: adding.measure(
        server, running, options.rows * 2 // 5, options.seconds
    ),
    "selects": lambda server, running, options: selects.measure(
        server, running, options.rows // 5, options.rounds * 3
    ),
    "snapshot": lambda server, running, options: snapshot.measure(
        server, running, options.rows, options.rows // 5, options.rounds
    ),
    "views": lambda server, running, options: views.measure(
        server,
        running,
        options.sizes or (options.rows // 5, options.rows * 2),
        (options.warm, options.rounds),
        options.kinds,
    ),
    "apply": lambda server, running, options: [
        *_applying(options.rounds),
        *views.applying(server, running, options.rows * 2, options.rounds),
    ],
}


_SETTINGS = {name: {"HEADRACE_UPKEEP_SECONDS": "2"} for name in ("views", "apply")}
"""Folds that are due begin soon, so that waiting until the product is quiet waits for them."""


def _migrations() -> list[Metric]:
    """Its module has models, which there are none of before Django is set up."""
    found: list[Metric] = import_module("bench.migrations").measure()
    return found


def _applying(rounds: int) -> list[Metric]:
    found: list[Metric] = import_module("bench.applying").measure(rounds * 3)
    return found


def _written(found: Sequence[Metric]) -> None:
    """What was measured, also when something failed after it."""
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print(table(found))
    print(f"written to {write(found, machine)}")


def main(words: Sequence[str]) -> int:
    """Run the measures, print the table, write `bench/results/latest.json`."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("measures", nargs="*", default=list(MEASURES), choices=[[], *MEASURES])
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the large table")
    parser.add_argument("--seconds", type=float, default=120, help="length of a freshness run")
    parser.add_argument("--readers", type=int, default=100, help="subscribers of one table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=10, help="steps of a view that do not count")
    parser.add_argument("--sizes", type=int, nargs="*", help="rows of the tables under views")
    parser.add_argument("--kinds", nargs="*", default=(), choices=views.WAYS, help="of views")
    options = parser.parse_args(words)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    found: list[Metric] = []
    try:
        with postgres.running() as server:
            for name in options.measures or MEASURES:
                print(f"{name} ..", file=sys.stderr)
                with product.running(**_SETTINGS.get(name, {})) as running:
                    found.extend(MEASURES[name](server, running, options))
    finally:
        _written(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
