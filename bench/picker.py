"""Server time of the wizard's table picker over 2,000 references."""

from __future__ import annotations

import statistics
import time
from http.client import HTTPConnection, HTTPResponse
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import psycopg
from psycopg import sql

from bench import product
from bench.metric import Metric
from tests.services.postgres import Postgres
from tests.services.product import Product

SCHEMAS, PER_SCHEMA = 40, 50


def make_many(dsn: str) -> None:
    """40 schemas of 50 tables, published as `bench`."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for schema in range(SCHEMAS):
            name = sql.Identifier(f"schema_{schema:02}")
            with connection.transaction():
                connection.execute(sql.SQL("create schema {}").format(name))
                for table in range(PER_SCHEMA):
                    connection.execute(
                        sql.SQL(
                            "create table {}.{} (id bigint primary key, email text,"
                            " total numeric(12,2),"
                            " at timestamptz, state text, doc jsonb, flag bool)"
                        ).format(name, sql.Identifier(f"table_{table:02}"))
                    )
        connection.execute("create publication bench for all tables")


def measure(server: Postgres, running: Product) -> list[Metric]:
    """Medians of the first page, of one schema when it is opened, and of a search."""
    dsn = server.create_database("bench_picker")
    make_many(dsn)
    product.connect(running, "bench_picker", dsn)
    product.source(running, "bench_picker_source", "bench_picker", "bench")
    row = running.sql("SELECT id FROM mz_sources WHERE name = 'bench_picker_source'")[0]
    cookie = sign_in(running)
    draft = begin(running, f"/sources/new/tables?source={row[0]}", cookie)
    pages = {
        "first page": f"{draft}?step=tables",
        "open a schema": f"{draft}/schema?ns=schema_07",
        "search": f"{draft}/tree?q=table_07",
    }
    return [
        Metric(
            f"picker, 2,000 references, {name}", _median(running, path, cookie), "ms", target=60
        )
        for name, path in pages.items()
    ]


def sign_in(running: Product) -> str:
    """A session's cookies, as the sign-in page gives them."""
    connection = HTTPConnection("127.0.0.1", running.port, timeout=30)
    connection.request("GET", "/sign-in")
    token = _cookies(connection.getresponse())["csrftoken"]
    form = {
        "email": running.email,
        "password": running.password,
        "csrfmiddlewaretoken": token,
    }
    headers = {
        "Cookie": f"csrftoken={token}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    connection.request("POST", "/sign-in", urlencode(form), headers)
    return f"sessionid={_cookies(connection.getresponse())['sessionid']}"


def _cookies(answer: HTTPResponse) -> dict[str, str]:
    answer.read()
    jar = SimpleCookie("; ".join(answer.headers.get_all("Set-Cookie", [])))
    return {name: morsel.value for name, morsel in jar.items()}


def begin(running: Product, path: str, cookie: str) -> str:
    """Where the new draft is."""
    connection = HTTPConnection("127.0.0.1", running.port, timeout=30)
    connection.request("GET", path, headers={"Cookie": cookie})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 302, f"{path}: {answer.status}"
    return (answer.getheader("Location") or "").partition("?")[0]


def _median(running: Product, path: str, cookie: str) -> float:
    times = []
    connection = HTTPConnection("127.0.0.1", running.port, timeout=30)
    for _ in range(30):
        began = time.monotonic()
        connection.request("GET", path, headers={"Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, f"{path}: {answer.status}"
        times.append((time.monotonic() - began) * 1000)
    return statistics.median(times)
