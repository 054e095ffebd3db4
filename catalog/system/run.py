"""The entrance: run a query over the system catalog of a region."""

from __future__ import annotations

import threading
from uuid import UUID

from sqlglot import exp

from catalog.models.namespaces import Region
from catalog.query.names import Names, fold, parts_of
from catalog.system.engine import Engine
from catalog.system.registry import relations
from catalog.system.rewrite import Session
from ingest.contract.reports import ResultSet

__all__ = ["Session", "relations", "run"]
_engines: dict[UUID, Engine] = {}
_lock = threading.Lock()


def run(query: exp.Expr, region: str, session: Session, names: Names | None = None) -> ResultSet:
    """The rows of a query (a sqlglot tree) over built-in relations, or over none.

    `names` resolves users' views over them, which are expanded. Raises StatementError: 42P01,
    42703, 42883 as for other queries.
    """
    found = Region.objects.values_list("installation", "pk", "stamp").get(name=region)
    installation, key, stamp = found
    with _lock:
        engine = _engines.setdefault(installation, Engine(key))
    tree = expand(query, names) if names else query
    return engine.run(tree, session, str(stamp))


def expand(query: exp.Expr, names: Names) -> exp.Expr:
    """The query with users' views replaced by their bodies."""
    root = exp.Paren(this=query.copy())
    ctes = {fold(cte.args["alias"].this) for cte in root.find_all(exp.CTE)}
    for table in list(root.find_all(exp.Table)):
        parts = parts_of(table) if not isinstance(table.this, exp.Func) else ()
        if not parts or (len(parts) == 1 and parts[0] in ctes):
            continue
        found = names.resolve(parts)
        if found is None or found.query is None:
            continue
        given = table.args.get("alias")
        columns = [exp.to_identifier(c.name, quoted=True) for c in found.relation.columns]
        alias = exp.TableAlias(
            this=given.this.copy() if given else exp.to_identifier(parts[-1], quoted=True),
            columns=given.columns if given and given.columns else columns,
        )
        table.replace(exp.Subquery(this=expand(found.query, found.names or names), alias=alias))
    return root.this  # type: ignore[no-any-return]


def forget() -> None:
    """Drop what is loaded: after a restore of the catalog, and between tests."""
    with _lock:
        _engines.clear()
