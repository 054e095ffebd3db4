"""DuckDB over the built-in relations: one database per region, in memory, locked down."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from catalog.errors import StatementError
from catalog.query.names import AmbiguousColumn, UnknownColumn, UnknownFunction, position
from catalog.query.outputs import output_name
from catalog.system.macros import MACROS, READS, SHAPES
from catalog.system.registry import RELATIONS
from catalog.system.relation import SystemRelation
from catalog.system.rewrite import DUCKDB_SCHEMAS, Rewriter, Session
from catalog.system.rows import LASTING, VOLATILE, RawTable
from ingest.contract.relation import Column, Relation
from ingest.contract.reports import ResultSet
from ingest.contract.types import Type

_SETTINGS = {
    "python_enable_replacements": "false",
    "integer_division": "true",
    "default_null_order": "nulls_last_on_asc_first_on_desc",
    "threads": "1",
    "memory_limit": "1GB",
    "TimeZone": "UTC",
    "enable_external_access": "false",
}
_DUCKDB_TYPES = {
    "oid": "bigint",
    "uint4": "bigint",
    "uint8": "bigint",
    "mz_timestamp": "bigint",
    "json": "text",
    "jsonb": "text",
    "uuid": "text",
}
_ARROW = {
    "bigint": pa.int64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "timestamptz": pa.timestamp("us", "UTC"),
    "text[]": pa.list_(pa.string()),
}


def duckdb_type(type_: Type) -> str:
    """The DuckDB type that holds a declared column."""
    name = _DUCKDB_TYPES.get(type_.name, type_.name)
    return f"{name}[]" if type_.array else name


@dataclass
class Engine:
    """One region's system catalog. Thread-safe: queries take turns, each a few milliseconds."""

    region: int
    stamp: str = ""
    loaded: set[str] = field(default_factory=set)
    connection: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, query: exp.Expr, session: Session, stamp: str) -> ResultSet:
        """The query's rows at the catalog's `stamp`; raises StatementError."""
        rewriter = Rewriter(session)
        text = rewriter.query(query).sql(dialect="duckdb")
        names = _output_names(query)
        with self.lock:
            self._prepare(rewriter.used, session, stamp)
            try:
                table = self.connection.sql(text).to_arrow_table()
            except duckdb.Error as error:
                raise translated(error, query) from None
        return _result(table, names, rewriter.used)

    def _prepare(self, used: list[SystemRelation], session: Session, stamp: str) -> None:
        if self.connection is None:
            self._open()
        if stamp != self.stamp:
            self.loaded.clear()
            self.stamp = stamp
        self.connection.execute("SET VARIABLE database = $1", [session.database])
        wanted = {name for relation in used for name in relation.reads}
        if any(relation.schema == "pg_catalog" for relation in used):
            wanted |= set(READS)
        for name in sorted(wanted):
            if name in VOLATILE:
                self._load(name, VOLATILE[name])
            elif name not in self.loaded:
                self._load(name, LASTING[name])
                self.loaded.add(name)

    def _open(self) -> None:
        self.connection = duckdb.connect(":memory:")
        for schema in ("raw", "mz_catalog", "mz_internal", *DUCKDB_SCHEMAS.values()):
            self.connection.execute(f"CREATE SCHEMA {schema}")
        for name, table in (LASTING | VOLATILE).items():
            self.connection.execute(f"CREATE TABLE raw.{name} ({table.columns})")
        for macro in SHAPES:
            self.connection.execute(f"CREATE MACRO {macro}")
        for relation in RELATIONS:
            self.connection.execute(_view(relation))
        for macro in MACROS:
            self.connection.execute(f"CREATE MACRO {macro}")
        for name, value in _SETTINGS.items():
            self.connection.execute(f"SET {name} = '{value}'")
        self.connection.execute("SET lock_configuration = true")

    def _load(self, name: str, table: RawTable) -> None:
        data = _arrow(table, list(table.load(self.region)))
        cursor = self.connection
        cursor.execute(f"DELETE FROM raw.{name}")  # noqa: S608 - a name of our own
        if data.num_rows:
            cursor.register("incoming", data)
            cursor.execute(f"INSERT INTO raw.{name} SELECT * FROM incoming")  # noqa: S608
            cursor.unregister("incoming")


def _arrow(table: RawTable, rows: list[tuple[Any, ...]]) -> pa.Table:
    fields = [part.strip().rpartition(" ") for part in table.columns.split(",")]
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in fields]
    arrays = [
        pa.array(values, type=_ARROW[kind])
        for values, (_, _, kind) in zip(columns, fields, strict=True)
    ]
    return pa.table(dict(zip([name for name, _, _ in fields], arrays, strict=True)))


def _view(relation: SystemRelation) -> str:
    """CREATE VIEW from the declaration: the declared names and types hold, whatever the query."""
    schema = DUCKDB_SCHEMAS.get(relation.schema, relation.schema)
    columns = relation.relation.columns
    casts = ", ".join(
        f'CAST(q_."{c.name}" AS {duckdb_type(c.type)}) AS "{c.name}"' for c in columns
    )
    names = ", ".join(f'"{column.name}"' for column in columns)
    query = relation.query
    if not query:
        nothing = ", ".join("NULL" for _ in columns)
        query = f"SELECT {nothing} WHERE false"
    return f'CREATE VIEW {schema}."{relation.name}" AS SELECT {casts} FROM ({query}) q_({names})'  # noqa: S608


def _output_names(query: exp.Expr) -> list[str] | None:
    """PostgreSQL's names for the outputs, None where a star makes them the relations' own."""
    select = query
    while isinstance(select, exp.SetOperation | exp.Subquery):
        select = select.this
    if not isinstance(select, exp.Select):
        return None
    items = select.expressions
    if any(isinstance(item, exp.Star) or item.is_star for item in items):
        return None
    return [output_name(item) for item in items]


def _result(table: pa.Table, names: list[str] | None, used: list[SystemRelation]) -> ResultSet:
    declared: dict[str, Type] = {}
    for one in used:
        for column in one.relation.columns:
            declared.setdefault(column.name, column.type)
    shown = names or list(table.column_names)
    columns = []
    for name, field_ in zip(shown, table.schema, strict=True):
        type_ = from_arrow(field_.type)
        known = declared.get(name)
        same = known is not None and duckdb_type(known) == duckdb_type(type_)
        columns.append(Column(name, known if same and known else type_))
    relation = Relation(tuple(columns))
    return ResultSet(relation, table.rename_columns(list(relation.names)))


def from_arrow(type_: pa.DataType) -> Type:
    """The PostgreSQL type of an Arrow column that DuckDB gave."""
    if pa.types.is_list(type_):
        return Type(from_arrow(type_.value_type).name, array=True)
    for test, name in _ARROW_TESTS:
        if test(type_):
            return Type(name)
    return Type("text")


_ARROW_TESTS = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "smallint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_integer, "bigint"),
    (pa.types.is_float32, "real"),
    (pa.types.is_float64, "double precision"),
    (pa.types.is_decimal, "numeric"),
    (pa.types.is_date, "date"),
    (lambda t: pa.types.is_timestamp(t) and t.tz is not None, "timestamp with time zone"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_interval, "interval"),
    (pa.types.is_binary, "bytea"),
)
_COLUMN = re.compile(
    r'(?:column|Column) (?:with name )?"?([\w.]+)"? (?:not found|does not)|'
    r'does not have a column named "(\w+)"'
)
_AMBIGUOUS = re.compile(r'Ambiguous reference to column name "(\w+)"')
_FUNCTION = re.compile(r"Function with name \"?(\w+)\"? (?:does|is) not")


def translated(error: duckdb.Error, query: exp.Expr) -> StatementError:
    """DuckDB's complaint as one of ours, with the position of the name it is about."""
    text = str(error).split("\n")[0]
    if found := _COLUMN.search(text):
        name = found[1] or found[2]
        return UnknownColumn(f'column "{name}" does not exist', position=_at(query, name))
    if found := _FUNCTION.search(text):
        return UnknownFunction(f'function "{found[1]}" does not exist')
    if found := _AMBIGUOUS.search(text):
        message = f'column reference "{found[1]}" is ambiguous'
        return AmbiguousColumn(message, position=_at(query, found[1]))
    kind, _, rest = text.partition(": ")
    message = (rest or kind).rstrip(".!")
    return StatementError(message[:1].lower() + message[1:], sqlstate="42601")


def _at(query: exp.Expr, name: str) -> int | None:
    last = name.split(".")[-1]
    found = (i for i in query.find_all(exp.Identifier) if i.name.lower() == last.lower())
    return position(next(found, None))
