"""Between Spark's schemas and ours."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, DecimalType, StructType

from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

_NAMES = {
    "boolean": "boolean",
    "binary": "bytea",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "timestamp": "timestamp with time zone",
}


TIME = "mz_timestamp"
DIFF = "mz_diff"


def quoted(name: str) -> str:
    """A column's name as Spark reads it back whole."""
    return "`" + name.replace("`", "``") + "`"


def type_of(found: DataType) -> Type:
    """Our type of a Spark value; text for what has no other."""
    if isinstance(found, ArrayType):
        return replace(type_of(found.elementType), array=True)
    if isinstance(found, DecimalType):
        return Type("numeric", found.precision, found.scale)
    return Type(_NAMES.get(found.simpleString(), "text"))


def relation(found: StructType) -> Relation:
    """Columns of a Spark schema."""
    return Relation(tuple(Column(f.name, type_of(f.dataType), f.nullable) for f in found.fields))


def spark_schema(wanted: Relation) -> str:
    """The DDL of a relation's columns, every one nullable."""
    fields = (" ".join((quoted(c.name), c.type.spark)) for c in wanted.columns)
    return ", ".join(fields)


def properties(wanted: Relation) -> dict[str, str]:
    """Delta properties that a table of these columns needs: any name is allowed, at a price."""
    odd = any(set(name) & set(" ,;{}()\n\t=") for name in wanted.names)
    return {"delta.columnMapping.mode": "name"} if odd else {}


def empty(session: SparkSession, wanted: Relation) -> DataFrame:
    """No rows of these columns."""
    return session.createDataFrame([], spark_schema(wanted))


def collected(frame: DataFrame) -> pa.Table:
    """A frame's rows; `toArrow` would ask the server once more what its columns are."""
    rows: pa.Table = frame._to_table()[0]  # type: ignore[operator]  # noqa: SLF001
    return rows


def conform(data: pa.Table, wanted: Relation) -> pa.Table:
    """Plain Arrow types under the relation's names: microseconds, UTC, no dictionaries."""
    return data.rename_columns(list(wanted.names))
