"""What is told of a Spark that is away, or on its way out."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkAssertionError, PySparkException, PySparkRuntimeError

from ingest import spark
from ingest.errors import Transient


@pytest.mark.parametrize(
    "said",
    [
        "failed to connect to all addresses; last error: Connection refused",
        "(java.lang.IllegalStateException) Cannot call methods on a stopped SparkContext.\nThis"
        " stopped SparkContext was created at:",
        "(org.apache.spark.SparkException) Job 7 cancelled because SparkContext was shut down",
        '<_MultiThreadedRendezvous of RPC that terminated with: details = "Stream removed">',
    ],
)
def test_a_server_that_ends_is_one_to_ask_again(said: str) -> None:
    error = RuntimeError(said)
    assert spark.is_lost(error)
    told = spark.failure(error)
    assert isinstance(told, Transient)
    assert (told.message, told.sqlstate) == ("the Spark server is not reachable", "57P03")


@pytest.mark.parametrize(
    "error",
    [
        PySparkRuntimeError(
            errorClass="RESPONSE_ALREADY_RECEIVED",
            messageParameters={"error_type": "INVALID_HANDLE.SESSION_NOT_FOUND"},
        ),
        PySparkAssertionError(
            "Received incorrect server side session identifier for request. Please create a new "
            "Spark Session to reconnect. (a != b)"
        ),
    ],
)
def test_a_server_that_was_replaced_meanwhile_is_one_to_ask_again(error: PySparkException) -> None:
    """The first part of an answer came from a server that is no more."""
    assert spark.is_lost(error)
    told = spark.failure(error)
    assert isinstance(told, Transient)
    assert (told.message, told.sqlstate) == ("the Spark server is not reachable", "57P03")


def test_a_query_that_is_wrong_is_not() -> None:
    assert not spark.is_lost(RuntimeError("[DIVIDE_BY_ZERO] Division by zero."))
