"""Makes the virtual environment and fetches the jars: python3 tools/bootstrap.py [--dev].

Needs Python 3.11 and nothing else. Does nothing, quickly, when everything is there already.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)
NEWEST = (3, 13)


def main() -> int:
    """Bring everything up to date; the exit status says whether that worked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what tests and linters need")
    wanted = "requirements-dev.txt" if parser.parse_args().dev else "requirements.txt"
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        version = ".".join(map(str, sys.version_info[:3]))
        print(f"Headrace needs Python 3.11 to 3.13, this is {version}: make run PYTHON=python3.12")
        return 1
    return _environment(wanted) or _jars()


def _environment(wanted: str) -> int:
    """The virtual environment with the pinned packages of a requirements file."""
    if not PYTHON.exists():
        code = _step("virtual environment", [sys.executable, "-m", "venv", str(VENV)])
        if code:
            print("  On Debian and Ubuntu: apt-get install python3-venv")
            return code
    if _satisfied(wanted):
        return 0
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    code = _step("packages", [*pip, "-r", str(ROOT / wanted)])
    if not code:
        _mark(wanted).write_text(_pins(wanted))
    return code


def _satisfied(wanted: str) -> bool:
    """Whether these pins are in already; those of the development file include the others."""
    files = {wanted, "requirements-dev.txt"}
    marks = ((_mark(name), _pins(name)) for name in files)
    return any(mark.exists() and mark.read_text() == pins for mark, pins in marks)


def _mark(wanted: str) -> Path:
    return VENV / f".{wanted}.installed"


def _pins(wanted: str) -> str:
    names = {"requirements.txt", wanted}
    return sha256(b"".join((ROOT / name).read_bytes() for name in sorted(names))).hexdigest()


def _jars() -> int:
    home = Path(os.environ.get("HEADRACE_HOME") or ROOT / ".headrace").absolute()
    target = Path(os.environ.get("HEADRACE_JARS") or home / "jars").absolute()
    command = [str(PYTHON), "-m", "tools.jars", str(target)]
    if subprocess.run([*command, "--check"], cwd=ROOT, check=False).returncode == 0:
        return 0
    return _step("jars", command)


def _step(name: str, command: Sequence[str]) -> int:
    """Run a command, showing how long it takes; what it says is shown only if it fails."""
    began = time.monotonic()
    live = sys.stdout.isatty()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        said = None
        while said is None:
            try:
                said, _ = process.communicate(timeout=1 if live else 15)
            except subprocess.TimeoutExpired:
                line = f"  {name:<28} {time.monotonic() - began:.0f} s"
                print(f"\r{line}" if live else line, end="" if live else "\n", flush=True)
    verdict = "failed" if process.returncode else "ok"
    start = "\r" if live else ""
    print(f"{start}  {name:<28} {verdict}, {time.monotonic() - began:.1f} s", flush=True)
    if process.returncode:
        print(said)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
