"""The order in which everything starts, the loop that watches it, and the way it stops."""

from __future__ import annotations

import signal
import time
from types import FrameType

from django.conf import settings
from django.core.management import call_command

from catalog.accounts import first_owner_link
from catalog.migrate.releases import prepare_all
from console import demo
from console.supervisor import home, static
from console.supervisor.child import Child, Program
from console.supervisor.services import Ports, Services
from console.supervisor.terminal import say, step
from ingest.errors import HeadraceError

_TICK = 0.2
_PATIENCE = 120.0
_ECHO = 2.0


class StopAsked(Exception):
    """Somebody asked us to stop."""


class Supervisor:
    """Everything that runs, oldest first: they stop the other way round."""

    def __init__(self) -> None:
        self._services = Services(Ports.choose())
        self._children: list[Child] = []
        self._asked: float | None = None

    def run(self) -> None:
        """Start everything and watch it until a signal comes; raises HeadraceError."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        home.require_free(settings.HEADRACE_HOST, settings.HEADRACE_PORT, "PORT")
        began = time.monotonic()
        try:
            self._start_all()
            self._welcome(time.monotonic() - began)
            while True:
                self._tend()
        except StopAsked:
            say("stopping (after its first run, Spark takes a while to write down what it learnt)")
        finally:
            self._stop_all()

    def _start_all(self) -> None:
        home.announce(settings.HEADRACE_HOME, self._services.facts())
        foundation = [self._add(program) for program in self._services.data_plane()]
        with step("catalog"):
            call_command("migrate", interactive=False, verbosity=0)
            prepare_all()
        with step("static files"):
            static.collect()
        for child in foundation:
            self._await(child)
        for program in self._services.control_plane():
            self._add(program)
        for child in self._children[len(foundation) :]:
            self._await(child)

    def _welcome(self, seconds: float) -> None:
        say(f"\nHeadrace runs at {self._services.url}  (started in {seconds:.0f} s; Ctrl-C stops)")
        self._add(self._services.warm())
        if settings.HEADRACE_DEMO:
            demo.request()
            self._add(self._services.command("demo_tables", once=True, shows=True))
        elif link := first_owner_link(self._services.url):
            say(f"Become its owner with this link, good for the first visitor only:\n  {link}")

    def _add(self, program: Program) -> Child:
        logs = settings.HEADRACE_HOME / "logs"
        logs.mkdir(exist_ok=True)
        child = Child(program, logs)
        self._children.append(child)
        child.start()
        return child

    def _await(self, child: Child) -> None:
        """Wait until the child does its work; it may die and be started again meanwhile."""
        if child.program.ready is None:
            return
        deadline = time.monotonic() + _PATIENCE
        with step(child.name):
            while not child.program.ready():
                if time.monotonic() > deadline:
                    message = f"{child.name} does not start"
                    raise HeadraceError(message, hint=f"See {child.log}.")
                self._tend()

    def _tend(self) -> None:
        if self._asked is not None:
            raise StopAsked
        for child in self._children:
            child.tend()
        if demo.requested() and not any(child.name == "demo" for child in self._children):
            self._add(self._services.command("demo"))
        time.sleep(_TICK)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Stop in order; asked again a while later, stop at once.

        A terminal and `make` may both pass on the same wish, so echoes do not count.
        """
        now = time.monotonic()
        if self._asked is None:
            self._asked = now
        elif now - self._asked > _ECHO:
            for child in self._children:
                child.kill()

    def _stop_all(self) -> None:
        """Our own processes first, all at once; what they lean on after them."""
        leaning = [child for child in self._children if child.name not in {"broker", "spark"}]
        for group in (leaning, [child for child in self._children if child not in leaning]):
            asked = time.monotonic()
            for child in reversed(group):
                child.ask_to_stop()
            for child in group:
                child.make_stop(asked + child.program.grace)


def up() -> None:
    """Run the whole product until a signal comes; raises HeadraceError when it cannot."""
    with home.held(settings.HEADRACE_HOME):
        Supervisor().run()
