"""`manage.py views` as processes: one keeps the views, another takes over when it is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from django.db import connection

from catalog.migrate import rollout
from catalog.models import Maintainer

_PROGRAM = """
import sys
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
import django
django.setup()
from django.core.management import call_command
call_command("views")
"""


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[bytes]]]:
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for child in found:
        child.kill()
        child.wait()


def started() -> subprocess.Popen[bytes]:
    line = [sys.executable, "-c", _PROGRAM, str(connection.settings_dict["NAME"])]
    return subprocess.Popen(line, env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"})


def keeper(other_than: int = 0) -> int:
    """The process that holds the lease."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        owner = Maintainer.objects.values_list("lease_owner", flat=True).first() or ""
        process = int(owner.split(":")[1]) if owner else 0
        if process not in {0, other_than}:
            return process
        time.sleep(0.1)
    raise AssertionError


@pytest.mark.django_db(transaction=True)
def test_one_keeps_the_views_and_another_takes_over(
    children: list[subprocess.Popen[bytes]],
) -> None:
    children += [started(), started()]
    by_pid = {child.pid: child for child in children}
    first = keeper()
    os.kill(first, signal.SIGKILL)
    by_pid[first].wait()
    second = keeper(first)
    assert second in by_pid
    assert Maintainer.objects.get().epoch == 2
    by_pid[second].send_signal(signal.SIGTERM)
    assert by_pid[second].wait(30) == 0
    assert Maintainer.objects.get().lease_owner == ""


@pytest.mark.django_db(transaction=True)
def test_one_process_keeps_the_views_of_every_region(
    children: list[subprocess.Popen[bytes]],
) -> None:
    children.append(started())
    keeper()
    rollout.enable_region("aws", "us-east-1", "ada")
    until = time.monotonic() + 60
    while {"local/embedded", "aws/us-east-1"} != owners().keys():
        assert time.monotonic() < until
        time.sleep(0.1)
    assert {int(owner.split(":")[1]) for owner in owners().values()} == {children[0].pid}
    assert len(set(owners().values())) == 2
    children[0].send_signal(signal.SIGTERM)
    assert children[0].wait(30) == 0
    assert owners() == {}


def owners() -> dict[str, str]:
    """Who keeps which region."""
    rows = Maintainer.objects.exclude(lease_owner="")
    return dict(rows.values_list("region__name", "lease_owner"))
