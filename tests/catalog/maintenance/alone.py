"""A process of its own on the test's region: `alone.py DATABASE FAIL_POINT SQL`.

Statements run as ada; `hydrate` computes what has no rows, `turn` is one turn of a maintainer.
"""

from __future__ import annotations

import sys
import time

import django
from django.conf import settings


def main(database: str, point: str, sql: str) -> None:
    settings.DATABASES["default"]["NAME"] = database
    django.setup()
    from catalog.maintenance import hydrating
    from catalog.maintenance.maintainer import Maintainer
    from catalog.session import Session, role_for
    from ingest import engine

    region = settings.HEADRACE_REGION
    name, _, count = point.partition(":")
    engine.arm_fail_point(name, int(count or 1))
    if sql == "hydrate":
        for shard in hydrating.wanted(region):
            hydrating.hydrate(region, shard)
    elif sql == "turn":
        maintainer = Maintainer(region, "gone:1:alone")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            maintainer.turn()
            time.sleep(0.05)
    else:
        list(Session(role_for(region, "ada@example.com", superuser=True)).execute(sql))


if __name__ == "__main__":
    main(*sys.argv[1:])
