"""What a PostgreSQL type is here by default, and when somebody must decide."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.contract.types import TEXT, Type

MONEY = 790
NUMERIC = 1700
_NATIVE = {
    16: "boolean",
    17: "bytea",
    20: "bigint",
    21: "smallint",
    23: "integer",
    25: "text",
    26: "oid",
    114: "json",
    700: "real",
    701: "double precision",
    1042: "character",
    1043: "character varying",
    1082: "date",
    1083: "time",
    1114: "timestamp",
    1184: "timestamp with time zone",
    1186: "interval",
    2950: "uuid",
    3802: "jsonb",
}
_SIZED = {1042, 1043}


@dataclass(frozen=True)
class Upstream:
    """A type as pg_type has it, domains resolved; `kind` is typtype, `element` an OID or 0."""

    oid: int
    modifier: int
    kind: str
    element: int = 0
    element_kind: str = "b"


def native(upstream: Upstream) -> tuple[Type | None, bool]:
    """The default type here and whether text is the faithful default.

    (None, True): text, nobody is asked (enums, ranges, inet, geometric types, xml, extensions').
    (None, False): a person must choose TEXT or exclusion: money (its text depends on the
    upstream's locale), composite types, numerics wider than 38 digits.
    """
    if upstream.element:
        scalar = Upstream(upstream.element, upstream.modifier, upstream.element_kind)
        element, as_text = native(scalar)
        if element is None and as_text:
            element = TEXT
        array = element and Type(element.name, element.precision, element.scale, array=True)
        return array, False
    if upstream.kind in "cp" or upstream.oid == MONEY:
        return None, False
    if upstream.oid == NUMERIC:
        return _numeric(upstream.modifier), False
    name = _NATIVE.get(upstream.oid)
    if name is None:
        return None, True
    sized = upstream.oid in _SIZED and upstream.modifier > 4
    return Type(name, upstream.modifier - 4 if sized else None), False


def _numeric(modifier: int) -> Type | None:
    if modifier < 4:
        return Type("numeric")
    precision = ((modifier - 4) >> 16) & 0xFFFF
    scale = (((modifier - 4) & 0x7FF) ^ 1024) - 1024
    if precision > 38 or not 0 <= scale <= precision:
        return None
    return Type("numeric", precision, scale)
