"""What a person types into psql."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.console.pgwire.conftest import Listening

PSQL = shutil.which("psql")

pytestmark = pytest.mark.skipif(PSQL is None, reason="no psql here: install postgresql-client")


def psql(server: Listening, *commands: str) -> str:
    """What psql prints, errors among it."""
    arguments = [part for command in commands for part in ("-c", command)]
    done = subprocess.run(
        [PSQL or "psql", "-X", "-A", "-d", server.dsn(), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout + done.stderr


def test_backslash_commands(server: Listening) -> None:
    made = psql(
        server,
        "CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')",
        "CREATE TABLE bids FROM SOURCE house (REFERENCE auction.bids)",
    )
    assert made == "CREATE SOURCE\nCREATE TABLE\n"
    assert "public|bids|table|ada@example.com" in psql(server, r"\dt")
    assert "public|bids|table|ada@example.com" in psql(server, r"\d")
    described = psql(server, r"\d bids")
    assert 'Table "public.bids"' in described
    assert "bid_time|timestamp with time zone||not null|" in described
    assert "headrace|" in psql(server, r"\l")
    assert "public|" in psql(server, r"\dn")
    assert "ada@example.com|" in psql(server, r"\du")
    assert "mz_tables|view|" in psql(server, r"\dv mz_tables")
    assert 'Did not find any relation named "nope".' in psql(server, r"\d nope")


def test_an_error_points_at_its_place(server: Listening) -> None:
    told = psql(server, "SELECT 1 FROM mz_tables WHERE nope")
    lines = told.splitlines()
    assert lines[0] == 'ERROR:  column "nope" does not exist'
    assert lines[1] == "LINE 1: SELECT 1 FROM mz_tables WHERE nope"
    assert lines[2].index("^") == lines[1].index("nope")
