"""Which queries without inputs are so plain that any engine answers them alike."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.calls import pg_call

_ANYWHERE = (
    exp.Select,
    exp.Subquery,
    exp.With,
    exp.CTE,
    exp.From,
    exp.Table,
    exp.TableAlias,
    exp.Alias,
    exp.Identifier,
    exp.Column,
    exp.Star,
    exp.Where,
    exp.Limit,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.Paren,
    exp.Neg,
    exp.And,
    exp.Or,
    exp.Not,
    exp.EQ,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.DataType,
)
_SESSION = (
    exp.CurrentCatalog,
    exp.CurrentDatabase,
    exp.CurrentSchema,
    exp.CurrentSchemas,
    exp.CurrentUser,
    exp.CurrentVersion,
    exp.SessionUser,
)
_SESSION_NAMES = frozenset({"version", "mz_version", "current_role", "user", "mz_now"})
_SESSION_PREFIXES = ("pg_", "has_", "to_reg", "current_", "obj_", "col_", "shobj_", "format_type")


def is_light(query: exp.Expr) -> bool:
    """Whether it has only constants, whole numbers and questions about the session."""
    nodes = list(query.walk())
    if any(_asks_session(node) for node in nodes):
        return True
    return all(_plain(node) for node in nodes)


def _asks_session(node: exp.Expr) -> bool:
    if isinstance(node, _SESSION):
        return True
    called = pg_call(node) if isinstance(node, exp.Anonymous) else None
    if called is None or called.name == "mz_now":
        return False
    return called.name in _SESSION_NAMES or called.name.startswith(_SESSION_PREFIXES)


def _plain(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        return node.is_string or node.name.isdigit()
    if isinstance(node, exp.Cast):
        return _whole_cast(node)
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _SESSION_NAMES
    return isinstance(node, _ANYWHERE)


def _whole_cast(node: exp.Cast) -> bool:
    """A cast that changes nothing: a whole number to a wider name, text to text."""
    literal = node.this
    if not isinstance(literal, exp.Literal):
        return False
    name = node.to.sql(dialect="postgres").lower()
    if literal.is_string:
        return name == "text"
    return name in ("int", "bigint", "uint8", "mz_timestamp")
