"""A process that is killed while it applies or rolls back; another one goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_MIGRATE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
"""
_PREPARE = """
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
resume("local/embedded")
print(Migration.objects.get().state)
print(dump("local/embedded"))
"""
_DUMP = """
from catalog.migrate.dump import dump
print(dump("local/embedded"))
"""


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
        timeout=120,
        check=False,
    )
    assert done.returncode in {0, -9}, done.stderr[-3000:]
    return done.returncode, done.stdout


@pytest.mark.faults
@pytest.mark.parametrize("point", ["claimed", "dependencies", "before commit", "committed"])
def test_killed(tmp_path: Path, point: str) -> None:
    _run(
        tmp_path, "from django.core.management import call_command as c; c('migrate', verbosity=0)"
    )
    _run(tmp_path, _PREPARE)
    _, before = _run(tmp_path, _DUMP)
    assert _run(tmp_path, _ACT, "apply", point)[0] == -9
    if point != "committed":
        assert _run(tmp_path, _DUMP)[1] == before
    _, told = _run(tmp_path, _GO_ON)
    state, _, applied = told.partition("\n")
    assert state == "applied"
    assert applied != before
    back = {"dependencies": "undone"}.get(point, point)
    assert _run(tmp_path, _ACT, "rollback", back)[0] == -9
    if point != "committed":
        assert _run(tmp_path, _DUMP)[1] == applied
    _, told = _run(tmp_path, _GO_ON)
    state, _, after = told.partition("\n")
    assert state == "rolled back"
    assert after == before
