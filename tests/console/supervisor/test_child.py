"""A child is started, started again with growing pauses, and never outlives its supervisor."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from console.supervisor.child import Child, Program
from console.supervisor.supervise import Supervisor


def _python(code: str, *, once: bool = False, grace: float = 10.0) -> Program:
    line = [sys.executable, "-c", code]
    return Program("child", lambda: line, dict(os.environ), once=once, grace=grace)


def _tend_until_gone(child: Child) -> None:
    deadline = time.monotonic() + 10
    while child.process is not None and time.monotonic() < deadline:
        child.tend()
        time.sleep(0.02)
    assert child.process is None


def test_a_dead_child_comes_back_after_a_growing_pause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    child = Child(_python("print('hello', flush=True); exit(3)"), tmp_path)
    child.start()
    _tend_until_gone(child)
    assert child.due is not None
    assert child.pause == 2.0
    child.due = time.monotonic()
    child.tend()
    assert child.process is not None
    _tend_until_gone(child)
    assert child.pause == 4.0
    assert "child ended (exit 3), again in 1 s" in capsys.readouterr().out
    assert child.log.read_text() == "hello\nhello\n"


def test_one_that_runs_once_stays_away(tmp_path: Path) -> None:
    child = Child(_python("pass", once=True), tmp_path)
    child.start()
    _tend_until_gone(child)
    assert child.due is None


def test_a_child_that_ignores_the_question_is_killed_with_its_group(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "grandchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(grandchild.pid, flush=True); time.sleep(60)\n"
    )
    child = Child(_python(code), tmp_path)
    child.start()
    while not child.log.read_text():
        time.sleep(0.02)
    grandchild = psutil.Process(int(child.log.read_text()))
    child.ask_to_stop()
    child.make_stop(time.monotonic() + 0.3)
    assert child.process is None
    psutil.wait_procs([grandchild], timeout=5)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's PR_SET_PDEATHSIG")
def test_kill_9_of_the_supervisor_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys, time; from pathlib import Path\n"
        "from console.supervisor.child import Child, Program\n"
        "line = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "child = Child(Program('sleeper', lambda: line, dict(os.environ)), Path(sys.argv[1]))\n"
        "child.start(); print(child.process.pid, flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        sleeper = psutil.Process(int(supervisor.stdout.readline()))
        supervisor.send_signal(signal.SIGKILL)
    psutil.wait_procs([sleeper], timeout=5)
    assert not sleeper.is_running() or sleeper.status() == psutil.STATUS_ZOMBIE


def test_who_is_asked_again_while_it_waits_is_over_at_once(tmp_path: Path) -> None:
    """The handler of a second signal runs in the middle of the wait for the child."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    supervisor, child = Supervisor(), Child(_python(code), tmp_path)
    supervisor._children = [child]
    child.start()
    began = time.monotonic()
    supervisor._asked = began - 60
    before = signal.signal(signal.SIGUSR1, supervisor._on_signal)
    asking = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        asking.start()
        child.make_stop(began + 30)
    finally:
        asking.join()
        signal.signal(signal.SIGUSR1, before)
    assert child.process is None
    assert time.monotonic() - began < 20
