"""What is typed without Spark is what Spark makes of it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest

from ingest import spark
from ingest.contract.commands import ExportColumn, Input
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type
from ingest.tables import arrow_cast, typed
from tests.ingest.tables.test_cast import BAD, CASES

_DICE = random.Random(3)
_EPOCH = dt.datetime(1, 1, 1)  # noqa: DTZ001


def _moment() -> dt.datetime:
    return _EPOCH + dt.timedelta(
        seconds=_DICE.randrange(9998 * 365 * 86_400), microseconds=_DICE.randrange(10**6)
    )


def _decimal(digits: int, scale: int) -> str:
    return str(Decimal(_DICE.randrange(-(10**digits) + 1, 10**digits)).scaleb(-scale))


PLAIN: dict[str, Callable[[], str]] = {
    "boolean": lambda: _DICE.choice("tf"),
    "smallint": lambda: str(_DICE.randrange(-(2**15), 2**15)),
    "integer": lambda: str(_DICE.randrange(-(2**31), 2**31)),
    "bigint": lambda: str(_DICE.randrange(-(10**18) + 1, 10**18)),
    "oid": lambda: str(_DICE.randrange(2**32)),
    "real": lambda: _DICE.choice(["-0", "1e-07", "3.4e+38", "0.1", f"{_DICE.random():.7g}"]),
    "double precision": lambda: repr(_DICE.uniform(-1, 1) * 10.0 ** _DICE.randrange(-4, 15)),
    "numeric(12,2)": lambda: _decimal(12, 2),
    "numeric(5,0)": lambda: _decimal(5, 0),
    "numeric": lambda: format(Decimal(_decimal(30, 12)), "f"),
    "date": lambda: _moment().date().isoformat().rjust(10, "0"),
    "timestamp": lambda: _moment().isoformat(" ").rjust(19, "0"),
    "timestamp with time zone": lambda: f"{_moment().replace(microsecond=0).isoformat(' ')}+00",
    "text": lambda: _DICE.choice(["", "ä", "NULL", "a\nb"]),
    "uuid": lambda: "6ecd8c99-4036-403d-bf84-cf8400f67836",
}


def _source(kinds: list[str], *, key: bool = False) -> Input:
    columns = tuple(
        ExportColumn(f"c{n}", Type.parse(kind), n > 0, "", n + 1, 0, -1)
        for n, kind in enumerate(kinds)
    )
    relation = Relation(tuple(Column(c.name, c.type, c.nullable) for c in columns))
    return Input("i", "s", relation, "f1", 1, columns, ("c0",) if key else ())


def _log(rows: list[list[str | None] | None], keys: list[list[str] | None]) -> pa.Table:
    texts = pa.list_(pa.string())
    return pa.table({"key": pa.array(keys, texts), "after": pa.array(rows, texts)})


@pytest.mark.spark
def test_plain_texts_of_every_type(plane: Plane) -> None:
    """With deletions and truncations, rows that are shorter than the table, and a slice."""
    source = _source(["integer", *PLAIN], key=True)
    rows: list[list[str | None] | None] = [None, ["1"], [None] * len(source.columns)]
    rows += [
        [str(n), *(make() if _DICE.random() < 0.9 else None for make in PLAIN.values())]
        for n in range(300)
    ]
    keys = [None, *([str(n)] for n in range(1, len(rows)))]
    raw = _log(rows, keys)
    found = typed.cast_here(source, raw)
    assert found is not None
    wanted = typed.cast_by_spark(spark.session(plane), source, raw)
    assert found.schema == wanted.schema
    for name in found.column_names:
        assert found[name].to_pylist() == wanted[name].to_pylist(), name
    part = typed.cast_here(source, raw.slice(2, 9))
    assert part is not None
    assert part.to_pylist() == wanted.slice(2, 9).to_pylist()


@pytest.mark.spark
def test_what_is_odd_is_left_to_spark(plane: Plane) -> None:
    """Nothing that does not fit is taken here, and what is taken is what Spark makes of it."""
    taken: list[tuple[str, str | None]] = []
    for kind, text, expected in CASES:
        found = typed.cast_here(_source([kind]), _log([[text]], [None]))
        if found is not None:
            assert expected is not BAD, (kind, text)
            taken.append((kind, text))
    assert len(taken) > 10
    source = _source([kind for kind, _ in taken])
    raw = _log([[text for _, text in taken]], [None])
    wanted = typed.cast_by_spark(spark.session(plane), source, raw)
    found = typed.cast_here(source, raw)
    assert found is not None
    assert found.to_pylist() == wanted.to_pylist()
    assert found.schema == wanted.schema


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "2147483648"),
        ("integer", "+1"),
        ("bigint", "9223372036854775808"),
        ("oid", "-1"),
        ("boolean", "true"),
        ("date", "2023-02-29"),
        ("date", "0000-01-01"),
        ("timestamp", "2024-01-01 24:00:00"),
        ("timestamp", "2024-01-01"),
        ("timestamp with time zone", "2024-01-01 12:00:00-08"),
        ("numeric(4,2)", "123.00"),
        ("numeric(4,2)", "1.234"),
        ("double precision", "NaN"),
        ("bytea", "\\x00"),
        ("integer[]", "{1}"),
    ],
)
def test_one_odd_text_leaves_all_to_spark(kind: str, text: str) -> None:
    assert arrow_cast.typed(pa.array([text]), Type.parse(kind)) is None
    source = _source(["text", kind])
    raw = _log([["a", None], ["b", text]], [None, None])
    assert typed.cast_here(source, raw) is None
    assert typed.cast_here(source, raw.slice(0, 1)) is not None or kind in {"bytea", "integer[]"}
