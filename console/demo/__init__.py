"""The demo's upstream: a real PostgreSQL with a small shop and a writer, at a click.

The click only leaves a request in the home; the supervisor sees it and runs `manage.py demo`,
which makes the database, keeps it running and writes to it. Later starts find the request too,
because tables made from the demo want their upstream back.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from django.conf import settings

from console.demo.port import free_port

if TYPE_CHECKING:
    from catalog.models import User

State = Literal["off", "starting", "running", "failed"]
HOST = "127.0.0.1"
DATABASE = "shop"
USER = "headrace"
PUBLICATION = "headrace"
TABLES = ("customers", "products", "orders", "order_items")


@dataclass(frozen=True)
class DemoStatus:
    """How the demo's PostgreSQL is, and how to connect to it; `message` says why it failed."""

    state: State
    message: str = ""
    host: str = HOST
    port: int = 0
    database: str = DATABASE
    user: str = USER
    password: str = ""
    publication: str = PUBLICATION
    tables: tuple[str, ...] = TABLES


def start_demo(user: User) -> DemoStatus:
    """Ask for the demo's PostgreSQL, on behalf of a signed-in user; returns at once."""
    request()
    return demo_status()


def demo_status() -> DemoStatus:
    """How the demo is now; cheap enough to ask every second."""
    if not requested():
        return DemoStatus("off")
    asked = json.loads((settings.HEADRACE_HOME / "demo.json").read_text())
    said: dict[str, State | str] = {"state": "starting", "message": ""}
    found = settings.HEADRACE_HOME / "run" / "demo.json"
    if found.exists():
        said = json.loads(found.read_text())
    return DemoStatus(
        state=said["state"],  # type: ignore[arg-type]
        message=said["message"],
        port=asked["port"],
        password=asked["password"],
    )


def requested() -> bool:
    """Whether somebody wants the demo."""
    return (settings.HEADRACE_HOME / "demo.json").exists()


def request() -> None:
    """Ask the supervisor for the demo; its port and password stay the same ever after."""
    path = settings.HEADRACE_HOME / "demo.json"
    if path.exists():
        return
    draft = path.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps({"port": free_port(), "password": secrets.token_urlsafe(16)}))
    draft.replace(path)


def report(state: State, message: str = "") -> None:
    """Say how the demo is, for `demo_status`."""
    path = settings.HEADRACE_HOME / "run" / "demo.json"
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps({"state": state, "message": message}))
    draft.replace(path)
