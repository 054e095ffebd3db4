"""The services that other tests lean on are what they say."""

import psycopg
import pytest
import redis

from ingest.contract.plane import Plane
from ingest.replicas.endpoint import Endpoint
from tests.services.postgres import Postgres


@pytest.mark.postgres
def test_postgres_replicates_logically_and_survives_a_kill(postgres: Postgres) -> None:
    dsn = postgres.create_database("services")
    with psycopg.connect(dsn) as connection:
        assert connection.execute("show wal_level").fetchone() == ("logical",)
        connection.execute("create table kept as select 1 as one")
    postgres.kill()
    postgres.start()
    with psycopg.connect(dsn) as connection:
        assert connection.execute("select one from kept").fetchone() == (1,)


def test_redis_answers(redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    assert client.ping()
    client.close()


@pytest.mark.spark
def test_the_plane_answers(plane: Plane) -> None:
    assert Endpoint(plane.remote).answers(10)
    assert not Endpoint("sc://127.0.0.1:1").answers(0.3)


@pytest.mark.browser
def test_chromium_is_found(chromium_path: str) -> None:
    assert chromium_path
