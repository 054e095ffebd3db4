"""How many rows of the views above a target change when a replacement is applied to it.

Every dependent's query is asked twice in one statement, so at one timestamp: as it stands, and
with the replacement in the target's place. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog import reads
from catalog.query.names import fold
from catalog.reads import ItemRow, ViewRow
from catalog.reads import views as maintained
from catalog.results import Result, Rows
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.statement import Statement
from console.fragments.definition import defined
from console.fragments.places import path_of
from ingest.errors import HeadraceError

Ask = Callable[[Statement], list[Result]]
Path = tuple[str, ...]
_VIEWS = {"view", "materialized view"}


@dataclass(frozen=True)
class Impact:
    """One dependent; `through` names what it reads the target through; -1 unknown."""

    item: ItemRow
    path: str
    through: str
    rows: int = -1
    added: int = 0
    removed: int = 0
    counted: bool = False
    problem: str = ""


def lines(target: ViewRow) -> tuple[Impact, ...]:
    """The dependents, nearest first, with nothing counted; replacements are left out."""
    rows = {view.item.id: view.rows for view in maintained.views()}
    waiting = {one.item.id for one in maintained.replacements()}
    found = [
        item
        for item in reads.dependents(target.item.id)
        if item.kind in _VIEWS and item.id not in waiting
    ]
    queries = {item.id: query for item in found if (query := _query(item)) is not None}
    near = {_path(target.item)}
    above = {_path(item): item.name for item in found}
    return tuple(
        Impact(
            item,
            path_of(item),
            _through(queries.get(item.id), near, above),
            rows.get(item.id, -1),
        )
        for item in found
    )


def count(
    target: ViewRow, replacement: ViewRow, ask: Ask
) -> tuple[tuple[Impact, ...], int | None]:
    """The dependents with their rows counted, and the timestamp (ms) of the first count."""
    told = lines(target)
    replaced: dict[Path, exp.Query | Path] = {_path(target.item): _path(replacement.item)}
    counted = []
    timestamp = None
    for line in told:
        query = _query(line.item)
        if query is None:
            counted.append(replace(line, problem="its definition cannot be read"))
            continue
        after = substituted(query, replaced)
        replaced[_path(line.item)] = after
        try:
            rows = _rows(ask(_counting(exp.select("*").from_(_table(_path(line.item))), after)))
        except HeadraceError as error:
            counted.append(replace(line, problem=error.message))
            continue
        timestamp = timestamp or rows.timestamp
        added, removed = (int(rows.data.column(at)[0].as_py()) for at in (0, 1))
        counted.append(replace(line, added=added, removed=removed, counted=True))
    return tuple(counted), timestamp


def substituted(query: exp.Query, replaced: dict[Path, exp.Query | Path]) -> exp.Query:
    """The query with relations replaced by other relations or by queries."""
    copy = query.copy()
    for table in list(copy.find_all(exp.Table)):
        other = replaced.get(_named(table))
        if other is None:
            continue
        alias = table.alias or table.name
        columns = [column.copy() for column in table.args.get("alias", exp.TableAlias()).columns]
        new = _table(other) if isinstance(other, tuple) else other.copy().subquery()
        name = exp.to_identifier(alias, quoted=True)
        new.set("alias", exp.TableAlias(this=name, columns=columns or None))
        for part in ("joins", "laterals"):
            if table.args.get(part):
                new.set(part, table.args[part])
        table.replace(new)
    return copy


def _counting(before: exp.Query, after: exp.Query) -> Select:
    """How many rows the second has that the first has not, and the other way round."""
    counts = [
        exp.select(exp.Count(this=exp.Star()))
        .from_(exp.except_(one, other, distinct=False).subquery("rows"))
        .subquery()
        .as_(name)
        for name, one, other in (
            ("added", _all(after), _all(before)),
            ("removed", _all(before), _all(after)),
        )
    ]
    query = exp.select(*counts)
    return Select(query, text="", body=query.sql(dialect="materialize"))


def _all(query: exp.Query) -> exp.Select:
    return exp.select("*").from_(query.copy().subquery("one"))


def _query(item: ItemRow) -> exp.Query | None:
    statement = defined(item.create_sql)
    return None if statement is None else statement.query


def _path(item: ItemRow) -> Path:
    return (item.database, item.schema, item.name)


def _named(table: exp.Table) -> Path:
    return tuple(fold(part) for part in table.parts if isinstance(part, exp.Identifier))


def _table(path: Path) -> exp.Table:
    parts = [exp.to_identifier(part, quoted=True) for part in reversed(path)]
    return exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))


def _through(query: exp.Query | None, near: set[Path], above: dict[Path, str]) -> str:
    """Names of the views between, when it does not read the target itself."""
    if query is None:
        return ""
    used = {_named(table) for table in query.find_all(exp.Table)}
    if used & near:
        return ""
    return ", ".join(name for path, name in above.items() if path in used)


def _rows(results: list[Result]) -> Rows:
    rows = next((one for one in reversed(results) if isinstance(one, Rows)), None)
    if rows is None:
        message = "nothing was counted"
        raise HeadraceError(message)
    return rows
