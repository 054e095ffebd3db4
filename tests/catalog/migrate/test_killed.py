"""A process that is killed while it applies or rolls back; another one goes on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WRITING = (
    "definitions",
    "new tables",
    "columns of sources",
    "progress views",
    "dependencies",
    "collections",
    "audited",
)
APPLYING = (
    "claimed",
    "planned again",
    "locked",
    *WRITING,
    "flags",
    "kept for taking back",
    "written",
    "before commit",
)
ROLLING_BACK = ("claimed", "locked", "checked", "later objects", "undone", "before commit")
DONE = ("committed", "told")
_PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.catalog.migrate.corpus import REGION, Corpus, every_kind
from catalog.migrate.store import make_plan
every_kind(Corpus.empty())
make_plan(REGION, "sources to tables", "ada")
"""
_ACT = """
import os, signal, sys
from catalog.migrate.apply import apply
from catalog.migrate.rollback import roll_back
act = apply if sys.argv[1] == "apply" else roll_back
def at(point):
    if point == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
act("local/embedded", "m1", "ada", at)
"""
_GO_ON = """
from catalog.migrate.dump import dump
from catalog.migrate.rollback import resume
from catalog.models import Migration
left = dump("local/embedded")
resume("local/embedded")
print(left, Migration.objects.get().state, dump("local/embedded"), sep="%%", end="")
"""


@dataclass(frozen=True)
class Stages:
    """Homes whose catalog is planned and applied, and what the catalog is in each."""

    planned: Path
    applied: Path
    old: str
    new: str


def _run(home: Path, code: str, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", "import django; django.setup()\n" + code, *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "HEADRACE_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in {0, -9}, done.stderr[-3000:]
    return done.returncode, done.stdout


def _went_on(home: Path) -> tuple[str, str, str]:
    """The catalog as the killed process left it, the migration's state after another one has gone
    on, and the catalog then."""
    left, state, now = _run(home, _GO_ON)[1].split("%%")
    return left, state, now


def _timeless(text: str) -> str:
    """Without the moments at which new items were made, which are another run's."""
    return re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+Z", "", text)


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """Made once; every kill has a copy."""
    planned, applied = (tmp_path_factory.mktemp(name) for name in ("planned", "applied"))
    assert _run(planned, _PREPARE)[0] == 0
    old, state, _ = _went_on(planned)
    assert state == "planned"
    shutil.copytree(planned, applied, dirs_exist_ok=True)
    assert _run(applied, _ACT, "apply", "")[0] == 0
    new, state, _ = _went_on(applied)
    assert state == "applied"
    assert new != old
    return Stages(planned, applied, old, new)


@pytest.mark.faults
@pytest.mark.parametrize("point", [*APPLYING, *DONE])
def test_killed_while_applied(stages: Stages, tmp_path: Path, point: str) -> None:
    home = shutil.copytree(stages.planned, tmp_path / "home")
    assert _run(home, _ACT, "apply", point)[0] == -9
    left, state, now = _went_on(home)
    assert _timeless(left) == _timeless(stages.new if point in DONE else stages.old)
    assert state == "applied"
    assert _timeless(now) == _timeless(stages.new)


@pytest.mark.faults
@pytest.mark.parametrize("point", [*ROLLING_BACK, *DONE])
def test_killed_while_rolled_back(stages: Stages, tmp_path: Path, point: str) -> None:
    home = shutil.copytree(stages.applied, tmp_path / "home")
    assert _run(home, _ACT, "rollback", point)[0] == -9
    left, state, now = _went_on(home)
    assert left == (stages.old if point in DONE else stages.new)
    assert state == "rolled back"
    assert now == stages.old
