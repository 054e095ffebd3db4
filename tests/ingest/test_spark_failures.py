"""What is told of a Spark that is away, or on its way out."""

from __future__ import annotations

import pytest

from ingest import spark
from ingest.errors import Transient


@pytest.mark.parametrize(
    "said",
    [
        "failed to connect to all addresses; last error: Connection refused",
        "(java.lang.IllegalStateException) Cannot call methods on a stopped SparkContext.\nThis"
        " stopped SparkContext was created at:",
        "(org.apache.spark.SparkException) Job 7 cancelled because SparkContext was shut down",
    ],
)
def test_a_server_that_ends_is_one_to_ask_again(said: str) -> None:
    error = RuntimeError(said)
    assert spark.is_lost(error)
    told = spark.failure(error)
    assert isinstance(told, Transient)
    assert (told.message, told.sqlstate) == ("the Spark server is not reachable", "57P03")


def test_a_query_that_is_wrong_is_not() -> None:
    assert not spark.is_lost(RuntimeError("[DIVIDE_BY_ZERO] Division by zero."))
