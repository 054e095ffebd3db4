"""Which PostgreSQL types meet, and Spark's types in PostgreSQL's words."""

from __future__ import annotations

import re

from catalog.query.build import UNKNOWN, Bound, cast
from catalog.query.names import TypeMismatch
from ingest.contract.types import TEXT, Type

NUMBERS = ("smallint", "integer", "bigint", "numeric", "real", "double precision")
INTEGERS = frozenset({"smallint", "integer", "bigint"})
FLOATS = frozenset({"real", "double precision"})
STRINGS = frozenset({"text", "character varying", "character"})
TIMES = ("date", "timestamp", "timestamp with time zone")
_AS_NUMBER = {"oid": "bigint", "uint4": "bigint", "uint8": "numeric", "mz_timestamp": "bigint"}
_SPARK = {
    "boolean": "boolean",
    "binary": "bytea",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "integer": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "timestamp": "timestamp with time zone",
    "string": "text",
    "void": "text",
    "variant": "jsonb",
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def number_name(type_: Type) -> str | None:
    """The arithmetic type that a type counts as, or None."""
    name = _AS_NUMBER.get(type_.name, type_.name)
    return name if name in NUMBERS and not type_.array else None


def is_integer(bound: Bound) -> bool:
    """Whether it is of an integer type."""
    return number_name(bound.type) in INTEGERS


def is_float(bound: Bound) -> bool:
    """Whether it is of a floating point type."""
    return number_name(bound.type) in FLOATS


def is_text(type_: Type) -> bool:
    """Whether it is of a character type."""
    return type_.name in STRINGS and not type_.array


def plain(type_: Type) -> Type:
    """The type without length, precision and scale: what an expression's result has."""
    return Type(type_.name, array=type_.array)


def shape_of(type_: Type) -> tuple[int, int]:
    """Precision and scale of the Spark decimal that holds a number of this type."""
    if type_.name == "numeric" and type_.precision:
        return type_.precision, type_.scale or 0
    digits = {"smallint": 5, "integer": 10, "bigint": 20, "oid": 20, "uint4": 10, "uint8": 20}
    return (digits[type_.name], 0) if type_.name in digits else (38, 18)


def common(left: Type, right: Type) -> Type | None:
    """The type that both become when they meet (in UNION, CASE, comparison), or None."""
    if left.name == "unknown" or right.name == "unknown":
        return _known(left, right)
    if left.array != right.array:
        return None
    if left == right or left.name == right.name:
        return left if left == right else plain(left)
    names = number_name(Type(left.name)), number_name(Type(right.name))
    if names[0] and names[1]:
        return Type(
            NUMBERS[max(NUMBERS.index(names[0]), NUMBERS.index(names[1]))], array=left.array
        )
    if left.name in STRINGS and right.name in STRINGS:
        return Type("text", array=left.array)
    if left.name in TIMES and right.name in TIMES and not left.array:
        return Type(TIMES[max(TIMES.index(left.name), TIMES.index(right.name))])
    return None


def _known(left: Type, right: Type) -> Type:
    return right if left.name == "unknown" else left


def common_of(bounds: list[Bound], what: str, at: int | None = None) -> Type:
    """The common type of several expressions; raises TypeMismatch when there is none."""
    found = UNKNOWN
    for bound in bounds:
        met = common(found, bound.type)
        if met is None:
            message = f"{what} types {found.sql} and {bound.type.sql} cannot be matched"
            raise TypeMismatch(message, position=at)
        found = met
    return TEXT if found == UNKNOWN else found


def spark_of(type_: Type) -> str:
    """The Spark type that an expression of this type has while it is computed."""
    return "string" if type_ == UNKNOWN else type_.spark


def adapt(bound: Bound, to: Type) -> Bound:
    """The expression where a value of type `to` is wanted and both are known to meet."""
    if bound.type == to or (bound.type.name == to.name and bound.type.array == to.array):
        return bound
    if is_text(bound.type) and is_text(to):
        return Bound(bound.node, to)
    shape = shape_of(bound.type) if to.name == "numeric" and is_integer(bound) else None
    if shape:
        return Bound(cast(bound.node, f"decimal({shape[0]},0)"), to, shape=shape)
    return Bound(cast(bound.node, spark_of(to)), to)


def from_spark(text: str) -> Type:
    """The PostgreSQL type of a Spark type's simple string, such as `array<int>`.

    Raises ValueError for a type that has none.
    """
    text = text.strip().lower()
    if text.startswith("array<"):
        element = from_spark(text[6:-1])
        return Type(element.name, element.precision, element.scale, array=True)
    if match := _DECIMAL.fullmatch(text):
        precision, scale = int(match[1]), int(match[2])
        return (
            Type("numeric")
            if (precision, scale) == (38, 18)
            else Type("numeric", precision, scale)
        )
    if text.startswith("interval"):
        return Type("interval")
    if text.startswith(("varchar", "char")):
        return TEXT
    if text not in _SPARK:
        message = f"no PostgreSQL type for {text}"
        raise ValueError(message)
    return Type(_SPARK[text])
