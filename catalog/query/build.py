"""Small pieces of Spark SQL, as trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ingest.contract.types import Type

UNKNOWN = Type("unknown")
"""The type of a bare string literal or NULL: it becomes whatever its neighbour needs."""
RECORD = Type("record")
BOOLEAN = Type("boolean")
INTEGER = Type("integer")
DATE = Type("date")
TIMESTAMP = Type("timestamp")
TIMESTAMPTZ = Type("timestamp with time zone")
NUMERIC = Type("numeric")
DOUBLE = Type("double precision")
JSONB = Type("jsonb")
BYTEA = Type("bytea")
INTERVAL = Type("interval")

Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
"""Comparisons that are null where a side is, as SQL writes them."""


@dataclass(frozen=True)
class Bound:
    """An expression in Spark's words with its PostgreSQL type.

    `shape` is a numeric's precision and scale in Spark. `months` says that an interval counts
    months, not time. `literal` is the text of a string constant.
    """

    node: exp.Expr
    type: Type
    shape: tuple[int, int] | None = None
    months: bool = False
    literal: str | None = None


def call(name: str, *args: exp.Expr | Bound) -> exp.Expr:
    """A Spark function by its exact name."""
    nodes = [arg.node if isinstance(arg, Bound) else arg for arg in args]
    return exp.Anonymous(this=name, expressions=[node.copy() for node in nodes])


def text(value: str) -> exp.Expr:
    """A string constant."""
    return exp.Literal.string(value)


def number(value: int | str) -> exp.Expr:
    """A number constant; negative ones in parentheses."""
    if str(value).startswith("-"):
        return exp.Paren(this=exp.Neg(this=exp.Literal.number(str(value)[1:])))
    return exp.Literal.number(str(value))


def binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """`(left op right)`, always in parentheses, so that trees may be nested freely."""
    return exp.Paren(this=kind(this=left.copy(), expression=right.copy()))


def cast(node: exp.Expr, spark: str, *, safe: bool = False) -> exp.Expr:
    """CAST (TRY_CAST when safe) to a Spark type by name."""
    kind: type[exp.Cast] = exp.TryCast if safe else exp.Cast
    return kind(this=node.copy(), to=spark_type(spark))


def spark_type(text: str) -> exp.DataType:
    """A Spark type by name, printed as written."""
    return exp.DataType(this=exp.DType.USERDEFINED, kind=text.upper())


def when(*branches: tuple[exp.Expr, exp.Expr], other: exp.Expr | None = None) -> exp.Expr:
    """CASE WHEN .. THEN .. [ELSE ..] END."""
    ifs = [exp.If(this=test.copy(), true=value.copy()) for test, value in branches]
    return exp.Case(ifs=ifs, default=other.copy() if other else None)


def negate(node: exp.Expr) -> exp.Expr:
    """NOT (..)."""
    return exp.Not(this=exp.Paren(this=node))


def is_null(node: exp.Expr) -> exp.Expr:
    """`(..) IS NULL`."""
    return exp.Paren(this=exp.Is(this=exp.Paren(this=node.copy()), expression=exp.Null()))


def both(*tests: exp.Expr) -> exp.Expr:
    """All of the tests."""
    return exp.Paren(this=exp.and_(*tests))


def fail(message: str) -> exp.Expr:
    """A value that raises when a row reaches it: an answer is refused, never wrong."""
    return call("raise_error", text(message))


def spark_of_cast(bound: Bound, type_: Type) -> exp.Expr:
    """The node as a column of this type: bare NULLs get a type."""
    if isinstance(bound.node, exp.Null):
        return cast(bound.node, type_.spark)
    return bound.node
