"""psql and drivers choose a region as they connect."""

from __future__ import annotations

import psycopg
import pytest

from catalog.migrate import rollout
from console.pgwire.startup import Wishes
from tests.console.pgwire.conftest import Listening

OTHER = "aws/us-east-1"
NAMES = "SELECT name FROM mz_secrets"


@pytest.mark.parametrize(
    "parameters",
    [
        {"options": f"--region={OTHER}"},
        {"options": f"-c region={OTHER} -c cluster=quickstart"},
        {"region": OTHER},
    ],
)
def test_where_the_region_is_said(parameters: dict[str, str]) -> None:
    wishes = Wishes({"user": "ada", **parameters}, encrypted=True)
    assert wishes.region == OTHER
    assert all(name != "region" for name, _ in wishes.settings)


def test_nothing_said() -> None:
    assert Wishes({"user": "ada"}, encrypted=True).region == ""


def test_each_connection_is_in_its_region(server: Listening) -> None:
    rollout.enable_region("aws", "us-east-1", "ada")
    with server.connect() as here, server.connect(options=f"--region={OTHER}") as there:
        here.execute("CREATE SECRET own_secret AS 'x'")
        there.execute("CREATE SECRET other_secret AS 'x'")
        assert here.execute(NAMES).fetchall() == [("own_secret",)]
        assert there.execute(NAMES).fetchall() == [("other_secret",)]
    with server.connect(options="--region=aws:us-east-1") as there:
        assert there.execute(NAMES).fetchall() == [("other_secret",)]


def test_an_unknown_region_ends_the_connection(server: Listening) -> None:
    with pytest.raises(psycopg.OperationalError, match='unknown region "aws/mars"'):
        server.connect(options="--region=aws/mars")
