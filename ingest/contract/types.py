"""Column types as PostgreSQL spells them, with their OID and their Spark type."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OIDS: dict[str, tuple[int, int, int]] = {
    "boolean": (16, 1000, 1),
    "bytea": (17, 1001, -1),
    "bigint": (20, 1016, 8),
    "smallint": (21, 1005, 2),
    "integer": (23, 1007, 4),
    "text": (25, 1009, -1),
    "oid": (26, 1028, 4),
    "json": (114, 199, -1),
    "real": (700, 1021, 4),
    "double precision": (701, 1022, 8),
    "character": (1042, 1014, -1),
    "character varying": (1043, 1015, -1),
    "date": (1082, 1182, 4),
    "time": (1083, 1183, 8),
    "timestamp": (1114, 1115, 8),
    "timestamp with time zone": (1184, 1185, 8),
    "interval": (1186, 1187, 16),
    "numeric": (1700, 1231, -1),
    "uuid": (2950, 2951, 16),
    "jsonb": (3802, 3807, -1),
    "uint4": (16462, 16463, 4),
    "uint8": (16464, 16465, 8),
    "mz_timestamp": (16552, 16553, 8),
}
_SPARK = {
    "boolean": "boolean",
    "bytea": "binary",
    "bigint": "bigint",
    "smallint": "smallint",
    "integer": "int",
    "oid": "bigint",
    "real": "float",
    "double precision": "double",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamp with time zone": "timestamp",
    "uint4": "bigint",
    "uint8": "decimal(20,0)",
    "mz_timestamp": "bigint",
}
_ALIASES = {
    "bool": "boolean",
    "int": "integer",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "float": "double precision",
    "decimal": "numeric",
    "string": "text",
    "bpchar": "character",
    "char": "character",
    "varchar": "character varying",
    "timestamptz": "timestamp with time zone",
    "timestamp without time zone": "timestamp",
    "time without time zone": "time",
    "bytes": "bytea",
}
_BY_OID = {oid: (name, False) for name, (oid, _, _) in _OIDS.items()} | {
    array: (name, True) for name, (_, array, _) in _OIDS.items()
}
_TEXT = re.compile(
    r"^\s*([a-z_][a-z_0-9 ]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*(\[\])?\s*$"
)


@dataclass(frozen=True)
class Type:
    """One column type. `name` is canonical (`integer`, `timestamp with time zone`, ...).

    `precision` is the length of character types, the precision of numeric; `scale` is numeric's.
    An unconstrained numeric has neither and is kept as decimal(38,18).
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    array: bool = False

    @classmethod
    def parse(cls, text: str) -> Type:
        """Read a PostgreSQL spelling such as `numeric(12,2)` or `int4[]`.

        Raises ValueError for a type that has no native form here.
        """
        match = _TEXT.match(text.lower())
        name = _ALIASES.get(match[1], match[1]) if match else ""
        if match is None or name not in _OIDS:
            message = f"unknown type {text}"
            raise ValueError(message)
        precision = int(match[2]) if match[2] else None
        scale = int(match[3]) if match[3] else (0 if precision and name == "numeric" else None)
        return cls(name, precision, scale, bool(match[4]))

    @classmethod
    def of_oid(cls, oid: int) -> Type | None:
        """The type with that OID, without modifiers; None for an OID that has no native type."""
        found = _BY_OID.get(oid)
        return None if found is None else cls(found[0], array=found[1])

    @property
    def sql(self) -> str:
        """The PostgreSQL spelling, as `format_type` prints it."""
        modifier = ""
        if self.precision is not None:
            parts = [self.precision] + ([self.scale] if self.scale is not None else [])
            modifier = "(" + ",".join(str(part) for part in parts) + ")"
        return f"{self.name}{modifier}{'[]' if self.array else ''}"

    @property
    def spark(self) -> str:
        """The Spark SQL type that holds it; text where Spark has no faithful type."""
        if self.name == "numeric":
            precision, scale = (self.precision, self.scale) if self.precision else (38, 18)
            element = f"decimal({min(precision or 38, 38)},{scale})"
        else:
            element = _SPARK.get(self.name, "string")
        return f"array<{element}>" if self.array else element

    @property
    def oid(self) -> int:
        """PostgreSQL's (or Materialize's) type OID."""
        return _OIDS[self.name][1 if self.array else 0]

    @property
    def length(self) -> int:
        """PostgreSQL's `typlen`: bytes, -1 when variable."""
        return -1 if self.array else _OIDS[self.name][2]

    @property
    def modifier(self) -> int:
        """PostgreSQL's `atttypmod`: -1 when unconstrained."""
        if self.precision is None:
            return -1
        if self.name == "numeric":
            return ((self.precision << 16) | (self.scale or 0)) + 4
        return self.precision + 4


TEXT = Type("text")
BIGINT = Type("bigint")
MZ_TIMESTAMP = Type("mz_timestamp")
