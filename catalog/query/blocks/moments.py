"""Functions that a maintained query cannot have: their value is not the rows' alone."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.calls import pg_call
from catalog.query.names import Names, parts_of

_NODES: dict[type[exp.Expr], str] = {
    exp.CurrentTimestamp: "now",
    exp.CurrentDate: "current_date",
    exp.CurrentTime: "current_time",
    exp.Localtimestamp: "localtimestamp",
    exp.Localtime: "localtime",
    exp.Rand: "random",
    exp.Uuid: "gen_random_uuid",
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
    exp.CurrentSchema: "current_schema",
    exp.CurrentSchemas: "current_schemas",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentDatabase: "current_database",
    exp.CurrentVersion: "version",
}
_CALLS = frozenset(
    {"now", "mz_now", "random", "gen_random_uuid", "uuid_generate_v4", "clock_timestamp"}
    | {"transaction_timestamp", "statement_timestamp", "timeofday", "setseed", "mz_version"}
    | {"current_database", "current_schema", "current_schemas", "version", "pg_backend_pid"}
    | {"mz_environment_id", "mz_is_superuser", "current_setting", "pg_postmaster_start_time"}
)


def unmaintainable(query: exp.Expr, names: Names | None = None) -> str | None:
    """The first function whose value changes with time, chance or session; through views."""
    for node in query.walk(bfs=False):
        if found := _name(node):
            return found
        if inside := _through(node, names):
            return inside
    return None


def _through(table: exp.Expr, names: Names | None) -> str | None:
    if names is None or not isinstance(table, exp.Table) or isinstance(table.this, exp.Func):
        return None
    view = names.resolve(parts_of(table))
    if view is None or view.query is None:
        return None
    return unmaintainable(view.query, view.names or names)


def _name(node: exp.Expr) -> str | None:
    if type(node) in _NODES:
        return _NODES[type(node)]
    called = pg_call(node) if isinstance(node, exp.Func) else None
    return called.name if called is not None and called.name in _CALLS else None
