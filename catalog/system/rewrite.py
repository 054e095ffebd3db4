"""A PostgreSQL query over the system catalog in DuckDB's words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from catalog.query.names import UnknownFunction, fold, parts_of, position, unknown_relation
from catalog.system.macros import FUNCTIONS
from catalog.system.registry import lookup
from catalog.system.relation import SystemRelation

DUCKDB_SCHEMAS = {"pg_catalog": "pgc", "information_schema": "infs"}
"""DuckDB has schemas of these names itself, which cannot be extended."""
_DENIED = ("duckdb_", "pragma_", "read_", "parquet_", "sniff_", "glob", "getenv", "getvariable")
_RENAMED = {"json_build_object": "json_object", "jsonb_build_object": "json_object"}
"""Functions with any number of arguments, which no macro can have."""
_OPERATORS: dict[str, type[exp.Binary]] = {
    "~": exp.RegexpLike,
    "!~": exp.RegexpLike,
    "=": exp.EQ,
    "<>": exp.NEQ,
    "~~": exp.Like,
}


@dataclass(frozen=True)
class Session:
    """What session functions answer; `mz_now` in ms."""

    database: str = "headrace"
    schema: str = "public"
    role: str = "mz_system"
    mz_now: int = 0
    version: str = "PostgreSQL 15.0 (Headrace)"


@dataclass
class Rewriter:
    """One rewrite; `used` collects the relations that were read."""

    session: Session
    used: list[SystemRelation] = field(default_factory=list)

    def query(self, tree: exp.Expr) -> exp.Expr:
        """The tree for DuckDB; raises UnknownRelation (42P01), UnknownFunction (42883)."""
        root = exp.Paren(this=tree.copy())
        ctes = {fold(cte.args["alias"].this) for cte in root.find_all(exp.CTE)}
        for node in reversed(list(root.walk())):
            new = self._node(node, ctes)
            if new is not node and node.parent is not None:
                node.replace(new)
        return root.this  # type: ignore[no-any-return]

    def _node(self, node: exp.Expr, ctes: set[str]) -> exp.Expr:
        if isinstance(node, exp.Table):
            return self._table(node, ctes)
        rule = _RULES.get(type(node))
        if rule is not None:
            return rule(self, node)
        if isinstance(node, exp.Func):
            return self._named(node)
        return node

    def _table(self, node: exp.Table, ctes: set[str]) -> exp.Expr:
        if isinstance(node.this, exp.Func):
            node.set("db", None)
            return node
        parts = parts_of(node)
        if len(parts) == 1 and parts[0] in ctes:
            return node
        found = lookup(parts)
        if found is None:
            raise unknown_relation(parts, position(node.this))
        self.used.append(found)
        schema = DUCKDB_SCHEMAS.get(found.schema, found.schema)
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(found.name)))
        node.set("catalog", None)
        node.set("db", exp.to_identifier(schema))
        node.set("this", exp.to_identifier(found.name))
        return node

    def _named(self, node: exp.Func) -> exp.Expr:
        name = node.sql_name().lower()
        if name.startswith(_DENIED):
            raise _unknown(name, node)
        if name in FUNCTIONS:
            return _macro(name, list(node.iter_expressions()))
        return node

    def call(self, node: exp.Expr) -> exp.Expr:
        """A function by name."""
        name = str(node.this).lower()
        value = self._session_value(name)
        if value is not None:
            return value
        if name.startswith(_DENIED):
            raise _unknown(name, node)
        if name in _RENAMED:
            return exp.Anonymous(this=_RENAMED[name], expressions=list(node.expressions))
        return _macro(name, list(node.expressions)) if name in FUNCTIONS else node

    def _session_value(self, name: str) -> exp.Expr | None:
        session = self.session
        values = {
            "current_database": session.database,
            "current_catalog": session.database,
            "current_schema": session.schema,
            "current_user": session.role,
            "current_role": session.role,
            "session_user": session.role,
            "user": session.role,
            "version": session.version,
        }
        if name in values:
            return exp.Literal.string(values[name])
        if name == "mz_now":
            return exp.Literal.number(session.mz_now)
        if name == "mz_version":
            return exp.Literal.string("v0.170.0 (headrace)")
        if name == "pg_backend_pid":
            return exp.Literal.number(1)
        return None

    def constant(self, node: exp.Expr) -> exp.Expr:
        """CURRENT_USER and its kin, which sqlglot gives classes of their own."""
        return self._session_value(_CONSTANTS[type(node)]) or node

    def schemas(self, node: exp.Expr) -> exp.Expr:
        """current_schemas(implicit)."""
        names = [self.session.schema]
        if isinstance(node.this, exp.Boolean) and node.this.this:
            names = ["mz_catalog", "pg_catalog", *names]
        return exp.Array(expressions=[exp.Literal.string(name) for name in names])


_CONSTANTS: dict[type[exp.Expr], str] = {
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
    exp.CurrentSchema: "current_schema",
    exp.CurrentDatabase: "current_database",
    exp.CurrentCatalog: "current_database",
    exp.CurrentVersion: "version",
}


def _unknown(name: str, node: exp.Expr) -> UnknownFunction:
    message = f'function "{name}" does not exist'
    return UnknownFunction(message, position=position(node))


def _macro(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    macro, count = FUNCTIONS[name]
    padded = (arguments + [exp.null() for _ in range(count)])[:count]
    return exp.Anonymous(this=macro, expressions=padded)


def _column(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    """`pg_catalog.pg_class.relname`: the schema is dropped, the table's alias is its name."""
    if node.args.get("db"):
        node.set("db", None)
        node.set("catalog", None)
    return node


def _dot(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    schemas = ("pg_catalog", "mz_catalog", "mz_internal", "information_schema")
    return node.expression if node.this.name in schemas else node


def _collate(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    inner: exp.Expr = node.this
    return inner


def _operator(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    sign = str(node.args["operator"]).split(".")[-1].strip('" ')
    kind = _OPERATORS.get(sign)
    if kind is None:
        message = f"operator does not exist: {sign}"
        raise UnknownFunction(message, position=position(node))
    made: exp.Expr = kind(this=node.this, expression=node.expression)
    made = _regex(rewriter, made) if kind is exp.RegexpLike else made
    return exp.Not(this=made) if sign == "!~" else made


def _regex(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="regexp_matches", expressions=[node.this, node.expression])


def _iregex(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    arguments = [node.this, node.expression, exp.Literal.string("i")]
    return exp.Anonymous(this="regexp_matches", expressions=arguments)


_REG_NAMES = ("regtype", "regclass", "regnamespace", "regproc")
_PLAIN_TYPES = {
    "oid": "bigint",
    "name": "text",
    "text": "text",
    "char": "text",
    "int2vector": "text",
}


def _cast(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    kind = node.args["to"].sql("postgres").lower().replace("pg_catalog.", "").strip('"')
    if kind in _REG_NAMES:
        if kind == "regproc":
            return exp.cast(node.this, "text")
        text = node.this.is_string
        suffix = "oid" if text else "name"
        name = (
            f"{'regtype' if kind == 'regtype' else 'regclass'}_{suffix}"
            if text
            else f"{kind}_name"
        )
        return exp.Anonymous(this=name, expressions=[node.this])
    if kind in _PLAIN_TYPES:
        return exp.cast(node.this, _PLAIN_TYPES[kind])
    if kind in ("jsonb", "json"):
        return exp.cast(node.this, "json")
    if kind in ("mz_timestamp", "uint8", "uint4"):
        return exp.cast(node.this, "bigint")
    return node


_BUILT_IN = ("pg_catalog", "mz_catalog", "mz_internal")


def _not_equal(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    """A client that leaves pg_catalog out of a list wants no built-in schema in it."""
    left, right = node.this, node.expression
    named = isinstance(left, exp.Column) and left.name == "nspname"
    if not (named and right.is_string and right.name == "pg_catalog"):
        return node
    values = [exp.Literal.string(name) for name in _BUILT_IN]
    return exp.Not(this=exp.In(this=left.copy(), expressions=values))


def _to_string(rewriter: Rewriter, node: exp.Expr) -> exp.Expr:
    return _macro("array_to_string", [node.this, node.expression])


_RULES: dict[type[exp.Expr], Callable[[Rewriter, exp.Expr], exp.Expr]] = {
    exp.Column: _column,
    exp.Dot: _dot,
    exp.Collate: _collate,
    exp.NEQ: _not_equal,
    exp.Operator: _operator,
    exp.RegexpLike: _regex,
    exp.RegexpILike: _iregex,
    exp.Cast: _cast,
    exp.ArrayToString: _to_string,
    exp.Anonymous: Rewriter.call,
    exp.CurrentSchemas: Rewriter.schemas,
    **dict.fromkeys(_CONSTANTS, Rewriter.constant),
}
