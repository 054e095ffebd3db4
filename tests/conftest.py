"""Fixtures that every room's tests share: the real services, started once a run when asked for.

A service that is not installed skips its tests by name, with the one line that installs it.
Properties are tried on 100 examples each; `make test ARGS=--hypothesis-profile=deep` tries 5,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

import pytest
from hypothesis import settings

from ingest.contract.plane import Plane
from tests.services import chromium, redis, spark
from tests.services import postgres as postgres_service
from tests.services.postgres import Postgres

Service = TypeVar("Service")

settings.register_profile("quick", max_examples=100, deadline=None)
settings.register_profile("deep", max_examples=5000, deadline=None)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL with wal_level=logical."""
    yield from _started(postgres_service.running(), "PostgreSQL")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of a real Valkey or Redis."""
    yield from _started(redis.running(), "Redis")


@pytest.fixture(scope="session")
def plane() -> Iterator[Plane]:
    """A running Spark Connect with an empty warehouse."""
    yield from _started(spark.running(), "Spark")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of a Chromium."""
    try:
        return chromium.find()
    except LookupError as missing:
        pytest.skip(f"no Chromium here: {missing}")


def _started(service: AbstractContextManager[Service], name: str) -> Iterator[Service]:
    try:
        running = service.__enter__()
    except LookupError as missing:
        pytest.skip(f"no {name} here: {missing}")
    try:
        yield running
    finally:
        service.__exit__(None, None, None)
