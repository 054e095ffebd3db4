"""INSERT, UPDATE and DELETE on plain tables: one Delta commit, then its row in the catalog."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from django.conf import settings
from sqlglot import exp

from catalog.answering import Reader
from catalog.errors import InvalidStatement, NotSupported
from catalog.inputs import input_of
from catalog.models import Item, PlainTableWrite
from catalog.moments import Wanted, moment
from catalog.oracle import next_time
from catalog.plan.picture import Entry
from catalog.plan.plans import Read, Write
from catalog.plan.scope import Scope
from catalog.query.binder import Moment
from catalog.query.compile import inspect
from catalog.query.row_expressions import row_expressions
from catalog.sql.nodes.query import Select
from catalog.variables import Variables
from ingest import engine


def write(plan: Write, reader: Reader, scope: Scope, variables: Variables) -> int:
    """Change the table's rows; how many. The catalog's row follows the engine's success."""
    target = plan.target
    if plan.action == "insert":
        time, count = _insert(plan, reader, scope, variables)
    else:
        time = next_time(reader.region, reader.seen)
        count = _change(plan, reader, scope, time)
    PlainTableWrite.objects.create(
        item=Item.objects.get(region__name=reader.region, gid=target.id),
        time=time,
        operation=plan.action,
        rows=count,
        role=reader.role,
    )
    reader.seen = max(reader.seen, time)
    return count


def check(plan: Write, reader: Reader, scope: Scope, variables: Variables) -> None:
    """Raise what an INSERT that waits for COMMIT gets wrong, at once."""
    reader.compiled(Read(Select(shaped(plan))), reader.names(scope), scope, 0, variables)


def tag(plan: Write, count: int) -> str:
    """The command tag: `INSERT 0 3`, `UPDATE 2`."""
    return f"INSERT 0 {count}" if plan.action == "insert" else f"{plan.action.upper()} {count}"


def static_count(plan: Write) -> int | None:
    """How many rows an INSERT .. VALUES has; None for other queries."""
    return len(plan.query.expressions) if isinstance(plan.query, exp.Values) else None


def joined(plans: list[Write]) -> Write:
    """Several INSERTs into one table as one."""
    queries = [shaped(plan) for plan in plans]
    whole = queries[0]
    for query in queries[1:]:
        whole = exp.Union(this=whole, expression=query, distinct=False)
    return replace(plans[0], query=whole, columns=plans[0].target.relation.names)


def shaped(plan: Write) -> exp.Query:
    """The INSERT's query with the table's columns, in order, each cast to the column's type."""
    target, query = plan.target, plan.query
    if query is None:
        raise TypeError(plan.action)
    names = plan.columns or target.relation.names
    width = _width(query)
    if width is not None and width > len(names):
        message = "INSERT has more expressions than target columns"
        raise InvalidStatement(message, sqlstate="42601")
    if width is not None and plan.columns and width < len(names):
        message = "INSERT has more target columns than expressions"
        raise InvalidStatement(message, sqlstate="42601")
    given = names if width is None else names[:width]
    if isinstance(query, exp.Values):
        return _values(query, target, given)
    alias = exp.TableAlias(
        this=exp.to_identifier("q"),
        columns=[exp.to_identifier(name, quoted=True) for name in given],
    )
    items = [
        exp.alias_(_item(target, name, given), name, quoted=True) for name in target.relation.names
    ]
    inner = query.copy()
    return exp.select(*items).from_(exp.Subquery(this=inner, alias=alias))


def _values(query: exp.Values, target: Entry, given: tuple[str, ...]) -> exp.Query:
    """VALUES row by row: DEFAULT has its meaning, and literals take the column's type."""
    rows: list[exp.Expression] = []
    for row in query.expressions:
        parts = row.expressions if isinstance(row, exp.Tuple) else [row]
        if len(parts) != len(given):
            message = "VALUES lists must all be the same length"
            raise InvalidStatement(message, sqlstate="42601")
        at = dict(zip(given, parts, strict=True))
        cells = []
        for name in target.relation.names:
            cell = at.get(name)
            if cell is None or _is_default(cell):
                cell = _default(target, name)
            cells.append(exp.cast(cell.copy(), _data_type(target, name)))
        rows.append(exp.Tuple(expressions=cells))
    names = [exp.to_identifier(name, quoted=True) for name in target.relation.names]
    alias = exp.TableAlias(this=exp.to_identifier("q"), columns=names)
    return exp.select(*[exp.column(name.copy()) for name in names]).from_(
        exp.Values(expressions=rows, alias=alias)
    )


def _is_default(cell: exp.Expression) -> bool:
    return (
        isinstance(cell, exp.Column | exp.Var)
        and not isinstance(cell.this, exp.Star)
        and cell.name.upper() == "DEFAULT"
    )


def _width(query: exp.Query | exp.Values) -> int | None:
    """How many columns a query has; None when a star decides it."""
    if isinstance(query, exp.Values):
        first = query.expressions[0]
        return len(first.expressions) if isinstance(first, exp.Tuple) else 1
    items = query.selects
    return None if any(item.is_star for item in items) else len(items)


def _item(target: Entry, name: str, given: tuple[str, ...]) -> exp.Expression:
    value: exp.Expression
    if name in given:
        value = exp.column(exp.to_identifier(name, quoted=True), table="q")
    else:
        value = _default(target, name)
    return exp.cast(value, _data_type(target, name))


def _default(target: Entry, name: str) -> exp.Expression:
    text = target.table.defaults.get(name)
    if text is None:
        return exp.Null()
    return exp.maybe_parse(text, dialect="postgres")


def _data_type(target: Entry, name: str) -> exp.DataType:
    column = next(one for one in target.relation.columns if one.name == name)
    return exp.DataType.build(column.type.sql, dialect="postgres")


def _insert(plan: Write, reader: Reader, scope: Scope, variables: Variables) -> tuple[int, int]:
    select = Select(shaped(plan))
    names = reader.names(scope)
    reads = inspect(select.query, names)
    if reads.kind == "system":
        message = "INSERT from the system catalog is not supported"
        raise NotSupported(message)
    tables = [scope.picture.entries[item] for item in sorted(reads.items)]
    if any(table.kind == "table" and table.table.source for table in tables):
        read_at = moment(
            reader.region, scope.picture, tables, Wanted(reader.seen, None, variables.timeout)
        )
    else:
        read_at = next_time(reader.region, reader.seen)
    query, _ = reader.compiled(Read(select), names, scope, read_at, variables)
    time = next_time(reader.region, reader.seen)
    target = input_of(plan.target, scope.picture)
    return time, engine.insert(settings.HEADRACE_PLANE, target, query, time)


def _change(plan: Write, reader: Reader, scope: Scope, time: int) -> int:
    target = input_of(plan.target, scope.picture)
    casts = {
        name: exp.cast(value.copy(), _data_type(plan.target, name))
        for name, value in plan.assignments
    }
    moment_ = Moment(time, dt.datetime.fromtimestamp(time / 1000, tz=dt.UTC))
    sets, where = row_expressions(
        (plan.target.name, plan.target.relation), reader.names(scope), moment_, casts, plan.where
    )
    if plan.action == "update":
        return engine.update(settings.HEADRACE_PLANE, target, sets, where, time)
    return engine.delete(settings.HEADRACE_PLANE, target, where, time)
