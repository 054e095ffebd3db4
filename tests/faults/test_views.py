"""kill -9 at the named points of create, hydrate, step, apply and undo of a materialized view.

Whoever passes a point kills itself there, or Spark, or another process. HEADRACE_ROUNDS of 20 or
more tries every victim at every point.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.faults.field import Field, Wound
from tests.faults.views import HELD, MADE, OVER, Views, in_turn, patience

pytestmark = [
    pytest.mark.faults,
    pytest.mark.spark,
    pytest.mark.postgres,
    pytest.mark.timeout(3600),
]
PASSES = {
    "view created": "web",
    "hydrate started": "worker",
    "view hydrated": "worker",
    "view step written": "views",
    "apply committed": "web",
    "undo committed": "web",
}
"""The points, and the process that passes each."""
_ALL = int(os.environ.get("HEADRACE_ROUNDS") or "3") >= 20


def cases(*points: str) -> list[tuple[str, str]]:
    """Every point with its victims: who passes it and Spark, or everybody."""
    return [
        (point, victim)
        for point in points
        for victim in ("web", "worker", "views", "spark")
        if _ALL or victim in {PASSES[point], "spark"}
    ]


@pytest.fixture(scope="module")
def views(field: Field) -> Iterator[Views]:
    """The views, read all the time."""
    made = Views(field)
    made.open()
    yield made
    made.close()


def recovered(views: Views, point: str, victim: str, moment: float) -> None:
    """Everything runs again, and the views are their queries."""
    wound = Wound(f"{victim} at {point}", "views")
    views.field.wounds.append(wound)
    views.field.recover(wound, moment, patience())
    views.compare("over", OVER)
    views.compare("held", HELD.format(version=views.version))
    wrong = views.watcher.found()
    assert not wrong, "\n".join(wrong[:5])
    assert views.watcher.versions, "nobody got an answer"
    if victim in {"worker", "views"}:
        assert not views.watcher.refused, views.watcher.refused


@pytest.mark.parametrize(
    ("point", "victim"), cases("view created", "hydrate started", "view hydrated")
)
def test_made(views: Views, point: str, victim: str) -> None:
    name = views.next_view()
    doomed = views.arm(PASSES[point], point, victim)
    moment = views.field.now()
    answer = views.once(f"CREATE MATERIALIZED VIEW {name} AS {MADE}")
    assert answer is None or "error" not in answer, answer
    views.await_death(victim, doomed)
    views.await_rows(name)
    recovered(views, point, victim, moment)
    views.compare(name, MADE)
    assert views.events("create", name) == 1
    assert set(views.watcher.versions) == {views.version}
    views.field.patiently(f"DROP MATERIALIZED VIEW {name}")


@pytest.mark.parametrize(("point", "victim"), cases("view step written"))
def test_stepped(views: Views, point: str, victim: str) -> None:
    doomed = views.arm(PASSES[point], point, victim)
    moment = views.field.now()
    views.await_death(victim, doomed)
    recovered(views, point, victim, moment)
    assert set(views.watcher.versions) == {views.version}


@pytest.mark.parametrize(("point", "victim"), cases("apply committed"))
def test_applied(views: Views, point: str, victim: str) -> None:
    old, before = views.version, views.events("alter", "held", "replacement")
    name = views.replacement()
    doomed = views.arm(PASSES[point], point, victim)
    moment = views.field.now()
    answer = views.once(f"ALTER MATERIALIZED VIEW held APPLY REPLACEMENT {name}")
    assert answer is None or "error" not in answer, answer
    views.await_death(victim, doomed)
    recovered(views, point, victim, moment)
    assert views.events("alter", "held", "replacement") == before + 1
    assert views.events("drop", name) == 1
    assert in_turn(views.watcher.versions, old, views.version), views.watcher.versions


@pytest.mark.parametrize(("point", "victim"), cases("undo committed"))
def test_undone(views: Views, point: str, victim: str) -> None:
    old, before = views.version, views.events("alter", "held", "rollback_replacement")
    name = views.replacement()
    new = views.version
    views.field.patiently(f"ALTER MATERIALIZED VIEW held APPLY REPLACEMENT {name}")
    doomed = views.arm(PASSES[point], point, victim)
    moment = views.field.now()
    answer = views.once("ALTER MATERIALIZED VIEW held ROLLBACK REPLACEMENT")
    assert answer is None or "error" not in answer, answer
    views.await_death(victim, doomed)
    views.version = old
    recovered(views, point, victim, moment)
    assert views.events("alter", "held", "rollback_replacement") == before + 1
    assert in_turn(views.watcher.versions, new, old), views.watcher.versions
