"""Fetches the pinned jars that Spark lacks, with the Ivy that pyspark carries.

python -m tools.jars DIRECTORY [--check]
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

from ingest.errors import HeadraceError
from ingest.replicas.java import find_java

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Jar:
    """A pinned jar; `digest` is its SHA-256."""

    organisation: str
    name: str
    version: str
    digest: str

    @property
    def file_name(self) -> str:
        """Its name on disk."""
        return f"{self.name}-{self.version}.jar"

    def is_in(self, directory: Path) -> bool:
        """Whether it is there, whole."""
        path = directory / self.file_name
        return path.exists() and sha256(path.read_bytes()).hexdigest() == self.digest


def pinned() -> list[Jar]:
    """The jars of jars.txt."""
    return [Jar(*line.split()) for line in (HERE / "jars.txt").read_text().splitlines()]


def fetch(jars: Sequence[Jar], target: Path) -> None:
    """Put the jars into `target`. Raises HeadraceError when one cannot be had, or is not it."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        got = Path(scratch) / "got"
        _resolve(jars, Path(scratch), got)
        for jar in jars:
            if not jar.is_in(got):
                message = f"{jar.file_name} could not be fetched, or its checksum is wrong"
                raise HeadraceError(message, hint="Check the network and run `make jars` again.")
            draft = target / f".{jar.file_name}"
            draft.write_bytes((got / jar.file_name).read_bytes())
            draft.replace(target / jar.file_name)


def _resolve(jars: Sequence[Jar], scratch: Path, got: Path) -> None:
    module = scratch / "ivy.xml"
    _module(jars).write(module)
    command = [str(find_java(os.environ.get("JAVA_HOME", ""))), "-cp", str(_ivy())]
    command += ["org.apache.ivy.Main", "-warn", "-settings", str(HERE / "ivysettings.xml")]
    command += ["-cache", str(scratch / "cache"), "-ivy", str(module)]
    command += ["-retrieve", f"{got}/[artifact]-[revision].[ext]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = "the jars could not be resolved"
        raise HeadraceError(message, detail=done.stdout[-2000:] + done.stderr[-2000:])


def _module(jars: Sequence[Jar]) -> ElementTree.ElementTree[ElementTree.Element]:
    """An Ivy module that depends on exactly these jars and on nothing that they depend on."""
    module = ElementTree.Element("ivy-module", version="2.0")
    ElementTree.SubElement(module, "info", organisation="headrace", module="jars")
    configurations = ElementTree.SubElement(module, "configurations")
    ElementTree.SubElement(configurations, "conf", name="default")
    dependencies = ElementTree.SubElement(module, "dependencies")
    for jar in jars:
        ElementTree.SubElement(
            dependencies,
            "dependency",
            org=jar.organisation,
            name=jar.name,
            rev=jar.version,
            transitive="false",
            conf="default->master",
        )
    return ElementTree.ElementTree(module)


def _ivy() -> Path:
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise HeadraceError("pyspark is not installed", hint="Run `make install`.")
    return next((Path(found.submodule_search_locations[0]) / "jars").glob("ivy-*.jar"))


def main(arguments: Sequence[str]) -> int:
    """The command line; the exit status says whether the jars are there."""
    target = Path(arguments[0])
    missing = [jar for jar in pinned() if not jar.is_in(target)]
    if not missing or "--check" in arguments:
        return 1 if missing else 0
    try:
        fetch(missing, target)
    except HeadraceError as error:
        print("\n".join(filter(None, [error.message, error.detail, error.hint])))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
