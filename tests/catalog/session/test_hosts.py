"""Which upstream hosts may be reached."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from catalog.errors import PermissionDenied, UpstreamProblem
from catalog.upstream.hosts import admitted
from ingest.contract.upstream import PostgresTarget


def target(host: str) -> PostgresTarget:
    return PostgresTarget(host, 5432, "d", "u")


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "0.0.0.0", "/var/run/postgresql", "a,b", "::ffff:169.254.1.1", "fe80::1"],
)
def test_denied(host: str) -> None:
    with pytest.raises(PermissionDenied):
        admitted(target(host))


def test_admitted_hosts_are_pinned() -> None:
    assert admitted(target("127.0.0.1")).address == "127.0.0.1"
    assert admitted(target("localhost")).address in {"127.0.0.1", "::1"}


def test_unknown_host() -> None:
    with pytest.raises(UpstreamProblem, match="could not resolve host"):
        admitted(target("no-such-host.invalid"))


def test_policy(settings: Settings) -> None:
    settings.HEADRACE_UPSTREAM_DENY = ["127.0.0.0/8", "*.internal"]
    with pytest.raises(PermissionDenied):
        admitted(target("127.0.0.1"))
    settings.HEADRACE_UPSTREAM_ALLOW = ["127.0.0.1"]
    assert admitted(target("127.0.0.1")).address == "127.0.0.1"
