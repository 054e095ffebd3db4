"""One supervisor a home, and a clear line for the second one."""

import socket
from pathlib import Path

import pytest

from console.supervisor import home
from ingest.errors import HeadraceError


def test_a_second_supervisor_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    with home.held(tmp_path):
        refused = pytest.raises(HeadraceError, match=r"already runs on .* \(process \d+\)")
        with refused, home.held(tmp_path):
            pass
        home.announce(tmp_path, {"remote": "sc://127.0.0.1:1"})
    with home.held(tmp_path):
        assert not (tmp_path / "run" / "services.json").exists()


def test_a_taken_port_is_named_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HeadraceError, match=f"cannot listen on 127.0.0.1:{port}") as caught:
            home.require_free("127.0.0.1", port, "PORT")
    assert caught.value.hint == "Choose another: make run PORT=..."
    home.require_free("127.0.0.1", home.free_port(), "PORT")
