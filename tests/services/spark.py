"""One Spark Connect server for the whole run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from ingest import spark
from ingest.contract.plane import Plane
from ingest.errors import HeadraceError
from ingest.replicas.endpoint import Endpoint
from ingest.replicas.local_process import LocalProcess
from tests.services import process


@contextmanager
def running() -> Iterator[Plane]:
    """A plane with an empty warehouse; raises LookupError when Java or the jars are missing.

    HEADRACE_TEST_REMOTE names a server that already runs, for quick runs one after another.
    """
    directory = Path(tempfile.mkdtemp(prefix="headrace-spark-"))
    warehouse = str(directory / "warehouse")
    if remote := os.environ.get("HEADRACE_TEST_REMOTE"):
        yield Plane(remote, warehouse)
        shutil.rmtree(directory, ignore_errors=True)
        return
    jars: Path = settings.HEADRACE_JARS
    local = LocalProcess(jars.parent / "spark", jars, process.free_port())
    log = directory / "log"
    try:
        server = process.start(local.command(), log, local.environment(os.environ))
    except HeadraceError as error:
        raise LookupError(error.hint) from error
    endpoint = Endpoint(local.remote)
    try:
        process.wait_for(lambda: endpoint.answers(0.5), server, log)
        yield Plane(local.remote, warehouse)
    finally:
        spark.close()
        process.stop(server, grace=45)
        shutil.rmtree(directory, ignore_errors=True)
