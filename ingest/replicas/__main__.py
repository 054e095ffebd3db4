"""Runs Spark Connect in the foreground, for a container of its own; or asks one how it is.

python -m ingest.replicas --home DIRECTORY --jars DIRECTORY [--listen ADDRESS] [--port PORT]
python -m ingest.replicas --check sc://HOST:PORT
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ingest.replicas.endpoint import DEFAULT_PORT, Endpoint
from ingest.replicas.local_process import LocalProcess


def main() -> None:
    """Become the server's process, or exit with whether the one asked after answers."""
    parser = argparse.ArgumentParser(prog="python -m ingest.replicas")
    parser.add_argument("--check", metavar="sc://HOST:PORT")
    parser.add_argument("--home", type=Path, default=Path("spark"))
    parser.add_argument("--jars", type=Path, default=Path("jars"))
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--memory", type=int, default=LocalProcess.memory, help="heap, in MB")
    asked = parser.parse_args()
    if asked.check:
        sys.exit(0 if Endpoint(asked.check).answers(3) else 1)
    local = LocalProcess(
        asked.home.absolute(),
        asked.jars.absolute(),
        asked.port,
        listen=asked.listen,
        memory=asked.memory,
    )
    command = local.command()
    os.execve(command[0], command, local.environment(os.environ))  # noqa: S606, TID251


if __name__ == "__main__":
    main()
