"""docker-compose.yml runs what the supervisor runs."""

from __future__ import annotations

from pathlib import Path

import yaml

from console.supervisor.services import Ports, Services

ROOT = Path(__file__).resolve().parents[3]


def test_every_process_of_ours_is_a_service() -> None:
    told = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    words = {word for service in told.values() for word in service.get("command") or ()}
    ours = {program.name for program in Services(Ports.choose()).control_plane()}
    assert {name for name in ours if name != "web"} <= words
    assert "console.asgi:application" in words
