"""INSERT, UPDATE and DELETE on plain tables: registered, then one Delta commit, then told."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from sqlglot import exp

from catalog.answering import Reader
from catalog.errors import InvalidStatement, NotSupported
from catalog.plan.picture import Entry
from catalog.plan.plans import Read, Write
from catalog.plan.scope import Scope
from catalog.planes import plane_of
from catalog.query.binder import Moment
from catalog.query.compile import inspect
from catalog.query.row_expressions import row_expressions
from catalog.sql.nodes.query import Select
from catalog.time import closing
from catalog.time.inputs import input_of
from catalog.time.moments import Wanted
from catalog.variables import Variables
from ingest import engine
from ingest.contract.commands import Query


def write(plan: Write, reader: Reader, scope: Scope, variables: Variables) -> int:
    """Change the table's rows; how many.

    The write is in the catalog before it is in Delta, so that nobody takes its time for passed.
    """
    source = _source(plan, reader, scope, variables) if plan.action == "insert" else None
    timeout = variables.timeout
    ticket = closing.begin(reader.region, plan.target.id, plan.action, reader.role, timeout)
    try:
        if source is None:
            count = _change(plan, reader, scope, ticket.time)
        else:
            target = input_of(plan.target, scope.picture)
            count = engine.insert(plane_of(reader.region), target, source, ticket.time)
        engine.pass_fail_point("rows written")
    except BaseException as error:
        closing.give_up(ticket, error)
        raise
    closing.end(ticket, count)
    reader.seen = max(reader.seen, ticket.time)
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


def _source(plan: Write, reader: Reader, scope: Scope, variables: Variables) -> Query:
    """What an INSERT appends, read at a time of its own."""
    select = Select(shaped(plan))
    names = reader.names(scope)
    reads = inspect(select.query, names)
    if reads.kind == "system":
        message = "INSERT from the system catalog is not supported"
        raise NotSupported(message)
    wanted = Wanted(reader.seen, None, variables.timeout, strict=True)
    place = reader.placed(select.query, names, wanted)
    query, _ = reader.compiled(Read(select), place.names, scope, place.time, variables)
    return query


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
        return engine.update(plane_of(reader.region), target, sets, where, time)
    return engine.delete(plane_of(reader.region), target, where, time)
