"""Maintained views: a step after a change of 1 %, beside recomputing the view; and applying.

A step counts from the moment in which the table has the change to the moment in which the view
has it, so the maintainer's pause is in it. It stands beside two things: a refresh of the same view
by recomputing, after the same change, which also finds out what differs; and computing the view
anew as a hydration does, which tells nobody what changed. All begin when what came before, such as
a fold, is over. The first steps of each kind, in which the server compiles their code, do not
count and wait for nothing; nor does the first that recomputes. Under replica identity FULL
upstream sends old rows too; under the default one a step looks them up.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import psycopg

from bench import product, upstream
from bench.metric import Metric
from tests.services.postgres import Postgres
from tests.services.product import Product

WAYS = {
    "filter": ("SELECT id, amount, status FROM facts WHERE amount > 5000",),
    "join": (
        "SELECT f.id, f.amount, c.region FROM facts AS f JOIN customers AS c"
        " ON c.id = f.customer_id",
    ),
    "left join": (
        "SELECT f.id, f.amount, c.region FROM facts AS f LEFT JOIN customers AS c"
        " ON c.id = f.customer_id",
    ),
    "averages": (
        "SELECT customer_id, avg(amount) AS mean, sum(id) AS ids FROM facts GROUP BY customer_id",
    ),
    "group by": (
        "SELECT customer_id, count(*) AS orders, sum(amount) AS total, max(amount) AS most"
        " FROM facts GROUP BY customer_id",
    ),
    "group by over a join": (
        "SELECT c.region, count(*) AS orders, sum(f.amount) AS total FROM facts AS f"
        " JOIN customers AS c ON c.id = f.customer_id GROUP BY c.region",
    ),
    "distinct": ("SELECT DISTINCT customer_id, status FROM facts",),
    "distinct that changes": ("SELECT DISTINCT status, amount::int AS whole FROM facts",),
    "union": (
        "SELECT customer_id, status FROM facts WHERE amount > 5000"
        " UNION SELECT id, region FROM customers",
    ),
    "top-k": ("SELECT id, amount FROM facts ORDER BY amount DESC, id LIMIT 100",),
    "stacked": (
        "SELECT customer_id, count(*) AS orders, sum(amount) AS total FROM facts"
        " GROUP BY customer_id",
        "SELECT c.region, sum(b.total) AS total, max(b.orders) AS most FROM below AS b"
        " JOIN customers AS c ON c.id = b.customer_id GROUP BY c.region",
    ),
}
"""Each kind's queries, of which every one may read the one before it."""
_NAMES = ("below", "measured")
_CHANGE = "update facts set amount = amount + 1 where id %% 100 = %s"
_IDENTITIES = {
    "full": "alter table facts replica identity full",
    "default": "alter table facts replica identity default",
}
_CUSTOMERS = (
    "create table customers (id int primary key, region text not null)",
    "insert into customers select g, 'region ' || g %% 50 from generate_series(0, 100000) g",
)
_AGAIN = 3
"""Steps that recompute: they are so long that their code is compiled within the first."""
_PATIENCE = 1200.0


def measure(
    server: Postgres,
    running: Product,
    sizes: Sequence[int],
    turns: tuple[int, int],
    kinds: Sequence[str] = (),
) -> Iterator[Metric]:
    """Views of these kinds (all, if none are named) over tables of each size; `turns` are the
    steps that do not count, and those that do."""
    for size in sorted(sizes):
        dsn = _follow(server, running, size)
        for kind in kinds or WAYS:
            steps, again, anew = _refresh(running, dsn, WAYS[kind], turns)
            for identity, taken in steps.items():
                step = statistics.median(taken)
                note = "each: " + ", ".join(f"{one:.2f}" for one in taken)
                name = f"view {kind}, step after 1 %, {size:,} rows, identity {identity}"
                shown = f"  {name}: {step:.2f} s; recomputed {again:.2f} s, anew {anew:.2f} s"
                print(f"{shown}; {note}", file=sys.stderr)
                recomputing = "a step that recomputes"
                yield Metric(f"{name}, recomputed", step, "s", recomputing, again, 0.2, note=note)
                yield Metric(name, step, "s", "computing anew", anew, 0.2, note=note)
        product.drop(running, "source", "views_source")


def applying(server: Postgres, running: Product, size: int, rounds: int) -> list[Metric]:
    """Applying a replacement to a view of a table of that size, and to one of few rows."""
    _follow(server, running, size)
    found = _apply(running, size, rounds * 2 + 1)
    product.drop(running, "source", "views_source")
    return found


def _follow(server: Postgres, running: Product, size: int) -> str:
    name = f"bench_views_{size}"
    dsn = server.create_database(name)
    upstream.make_wide(dsn, "facts", size)
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in _CUSTOMERS:
            connection.execute(statement, ())
        connection.execute("create publication bench for table facts, customers")
    product.connect(running, name, dsn)
    product.source(running, "views_source", name, "bench")
    product.tables(running, "views_source", {"facts": "facts", "customers": "customers"})
    product.wait_running(running, ["facts", "customers"], 900)
    return dsn


def _refresh(
    running: Product, dsn: str, queries: Sequence[str], turns: tuple[int, int]
) -> tuple[dict[str, list[float]], float, float]:
    """What each step takes by replica identity, one that recomputes, and making the view;
    seconds."""
    (warm, rounds), anew = turns, [_made(running, queries)]
    steps: dict[str, list[float]] = {}
    for identity, first in zip(_IDENTITIES, (warm, 0), strict=True):
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(_IDENTITIES[identity], ())
        for turn in range(first):
            _step(running, dsn, turn)
        steps[identity] = _steps(running, dsn, range(first, first + rounds))
    _dropped(running, queries)
    anew.append(_made(running, queries))
    _dropped(running, queries)
    _made(running, [_unmaintained(query) for query in queries])
    again = statistics.median(_steps(running, dsn, range(_AGAIN))[1:])
    _dropped(running, queries)
    return steps, again, statistics.median(anew)


def _unmaintained(query: str) -> str:
    """The same rows by a query that steps can only recompute."""
    return " ".join(("SELECT * FROM (", query, ") AS whole WHERE EXISTS (SELECT 1)"))


def _steps(running: Product, dsn: str, turns: Iterable[int]) -> list[float]:
    """What steps take that each begin when the product is quiet; seconds."""
    found = []
    for turn in turns:
        product.quiet(running)
        found.append(_step(running, dsn, turn))
    return found


def _step(running: Product, dsn: str, turn: int) -> float:
    """Change one row in a hundred, and wait for the table, then for the view; seconds between."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_CHANGE, (turn,))
        row = connection.execute(
            "select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint"
        ).fetchone()
    position = int(row[0]) if row else 0
    _wait(lambda: int(running.value("SELECT lsn FROM views_source") or 0) >= position)
    began, reached = time.monotonic(), _frontier(running, "facts")
    _wait(lambda: _frontier(running, "measured") >= reached)
    return time.monotonic() - began


def _made(running: Product, queries: Sequence[str]) -> float:
    """Create the views and wait until the last of them can be read; seconds."""
    product.quiet(running)
    began = time.monotonic()
    for name, query in _named(queries):
        running.sql(" ".join(("CREATE MATERIALIZED VIEW", name, "AS", query)))
    _wait(lambda: _hydrated(running, "measured"))
    return time.monotonic() - began


def _dropped(running: Product, queries: Sequence[str]) -> None:
    for name, _ in reversed(_named(queries)):
        product.drop(running, "materialized view", name)


def _named(queries: Sequence[str]) -> list[tuple[str, str]]:
    """Each query with the name of its view."""
    return list(zip(_NAMES[-len(queries) :], queries, strict=True))


def _apply(running: Product, size: int, rounds: int) -> list[Metric]:
    """Applying a replacement to a view of all the rows, beside one of a thousand: the statement
    from the first byte sent to the last one received. Each once when what would change has been
    counted, as somebody does who looks at it, and once as soon as there are rows, while it is
    being counted."""
    took: dict[tuple[str, bool], list[float]] = {
        (name, counted): [] for counted in (True, False) for name in ("few_rows", "all_rows")
    }
    running.sql(
        "CREATE MATERIALIZED VIEW few_rows AS SELECT id, amount FROM facts WHERE id <= 1000"
    )
    running.sql("CREATE MATERIALIZED VIEW all_rows AS SELECT id, amount FROM facts")
    _wait(lambda: _hydrated(running, "few_rows") and _hydrated(running, "all_rows"))
    for _ in range(rounds):
        for (name, counted), seconds in took.items():
            running.sql(_DEFINITIONS[name])
            _wait(lambda: _hydrated(running, "better"))
            if counted:
                _wait(lambda: running.sql(_COUNTED) == [["better"]])
            began = time.monotonic()
            running.sql(APPLY[name])
            seconds.append(time.monotonic() - began)
    product.drop(running, "materialized view", "few_rows")
    product.drop(running, "materialized view", "all_rows")
    return [*_applied(took, size, counted=True), *_applied(took, size, counted=False)]


def _applied(
    took: dict[tuple[str, bool], list[float]], size: int, *, counted: bool
) -> Iterator[Metric]:
    each = took["few_rows", counted], took["all_rows", counted]
    few, whole = (statistics.median(seconds) * 1000 for seconds in each)
    note = "each: " + "; ".join(
        ", ".join(f"{one * 1000:.0f}" for one in seconds) for seconds in each
    )
    when = "" if counted else " while its changes are counted"
    print(f"  apply{when}, ms, 1,000 and {size:,} rows, {note}", file=sys.stderr)
    name = f"apply a replacement{when}"
    yield Metric(f"{name}, {size:,} rows/1,000", whole, "ms", "1,000 rows", few, 1.2, note=note)
    yield Metric(f"{name}, {size:,} rows", whole, "ms", target=100.0)
    yield Metric(f"{name}, 1,000 rows", few, "ms", target=100.0)


_DEFINITIONS = {
    "few_rows": "CREATE REPLACEMENT MATERIALIZED VIEW better FOR few_rows"
    " AS SELECT id, CAST(amount * 2 AS numeric(12, 2)) AS amount FROM facts WHERE id <= 1000",
    "all_rows": "CREATE REPLACEMENT MATERIALIZED VIEW better FOR all_rows"
    " AS SELECT id, CAST(amount * 2 AS numeric(12, 2)) AS amount FROM facts",
}
APPLY = {
    "few_rows": "ALTER MATERIALIZED VIEW few_rows APPLY REPLACEMENT better",
    "all_rows": "ALTER MATERIALIZED VIEW all_rows APPLY REPLACEMENT better",
}
_HYDRATED = (
    "SELECT o.name FROM mz_internal.mz_hydration_statuses AS h"
    " JOIN mz_objects AS o ON o.id = h.object_id WHERE h.hydrated"
)
_COUNTED = (
    "SELECT o.name FROM mz_internal.mz_replacement_statistics AS s"
    " JOIN mz_objects AS o ON o.id = s.replacement_id WHERE s.as_of IS NOT NULL"
)
_FRONTIERS = (
    "SELECT o.name, f.write_frontier FROM mz_internal.mz_frontiers AS f"
    " JOIN mz_objects AS o ON o.id = f.object_id"
)


def _hydrated(running: Product, name: str) -> bool:
    return [name] in running.sql(_HYDRATED)


def _frontier(running: Product, name: str) -> int:
    """Everything before this time (ms) is in the table or view."""
    found = {row[0]: row[1] for row in running.sql(_FRONTIERS)}
    return int(found.get(name) or 0)


def _wait(holds: Callable[[], bool]) -> None:
    """Ask until it holds; raises TimeoutError."""
    until = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > until:
            message = f"not within {_PATIENCE:.0f} s"
            raise TimeoutError(message)
        time.sleep(0.05)
