"""One life of a maintainer: it hydrates or steps a view and dies at a fail point."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from ingest import engine
from tests.ingest.views import worlds


def main(point: str, time: str) -> None:
    plane, view = pickle.loads(sys.stdin.buffer.read())
    engine.arm_fail_point(point)
    if engine.view_state(plane, view.shard) is None:
        worlds.hydrate(plane, view, int(time))
    else:
        engine.step_view(plane, view, int(time))


main(*sys.argv[1:])
