"""SELECT, VALUES, set operations and WITH."""

from __future__ import annotations

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.binder import DEEPEST, Binder, BoundQuery
from catalog.query.build import UNKNOWN, Bound, binary, call, number, spark_of_cast
from catalog.query.casts import coerce
from catalog.query.grouping import bind_group
from catalog.query.names import TypeMismatch, fold, position
from catalog.query.ordering import Items, bind_order
from catalog.query.outputs import output_name
from catalog.query.scope import Output, Scope
from catalog.query.tables import bind_from
from catalog.query.types import adapt, common, common_of, plain
from ingest.contract.types import TEXT, Type

_REFUSED = {
    "into": "SELECT INTO",
    "locks": "FOR UPDATE",
    "qualify": "QUALIFY",
    "laterals": "LATERAL VIEW",
    "sample": "TABLESAMPLE",
    "connect": "CONNECT BY",
}


def bind_query(binder: Binder, node: exp.Expr, scope: Scope | None) -> BoundQuery:
    """Any query expression in Spark's words; raises StatementError."""
    binder.depth += 1
    if binder.depth > DEEPEST:
        raise StatementError("query is nested too deeply", sqlstate="54001")
    outside = binder.ctes
    try:
        _bind_with(binder, node, scope)
        return _bind_body(binder, node, scope)
    finally:
        binder.ctes = outside
        binder.depth -= 1


def _bind_body(binder: Binder, node: exp.Expr, scope: Scope | None) -> BoundQuery:
    if isinstance(node, exp.Subquery):
        return _bind_wrapped(binder, node, scope)
    if isinstance(node, exp.Select):
        return _bind_select(binder, node, scope)
    if isinstance(node, exp.SetOperation):
        return _bind_set(binder, node, scope)
    if isinstance(node, exp.Values):
        return bind_values(binder, node, scope)
    raise binder.unsupported(node)


def _bind_with(binder: Binder, node: exp.Expr, scope: Scope | None) -> None:
    with_ = node.args.get("with_")
    if with_ is None:
        return
    if with_.args.get("recursive"):
        raise NotSupported(
            "WITH RECURSIVE and WITH MUTUALLY RECURSIVE are not supported yet",
            position=position(with_),
        )
    for cte in with_.expressions:
        bound = binder.query(binder, cte.this, scope)
        alias = cte.args["alias"]
        binder.ctes = {**binder.ctes, fold(alias.this): renamed(bound, alias.columns, cte)}


def renamed(bound: BoundQuery, columns: list[exp.Identifier], at: exp.Expr) -> BoundQuery:
    """The query with its first columns called otherwise; raises when there are too many names."""
    if len(columns) > len(bound.outputs):
        available = f"table has {len(bound.outputs)} columns available"
        message = f"{available} but {len(columns)} columns specified"
        raise StatementError(message, sqlstate="42P10", position=position(at))
    names = [fold(column) for column in columns] + [o.name for o in bound.outputs[len(columns) :]]
    outputs = tuple(
        Output(name, o.type, o.spark, o.shape, o.months)
        for name, o in zip(names, bound.outputs, strict=True)
    )
    return BoundQuery(bound.node, outputs)


def _bind_wrapped(binder: Binder, node: exp.Subquery, scope: Scope | None) -> BoundQuery:
    inner = binder.query(binder, node.this, scope)
    if not any(node.args.get(key) for key in ("order", "limit", "offset")):
        return inner
    return finish(binder, node, _over(binder, inner), inner.outputs, scope)


def _over(binder: Binder, inner: BoundQuery) -> exp.Select:
    alias = binder.fresh("t")
    columns = [exp.to_identifier(o.spark, quoted=True) for o in inner.outputs]
    return exp.Select(expressions=[exp.Column(this=c) for c in columns]).from_(
        exp.Subquery(this=inner.node, alias=exp.TableAlias(this=exp.to_identifier(alias)))
    )


def finish(
    binder: Binder,
    node: exp.Expr,
    query: exp.Query,
    outputs: tuple[Output, ...],
    scope: Scope | None,
) -> BoundQuery:
    """ORDER BY by output, LIMIT and OFFSET around a query whose columns are `outputs`."""
    items = Items([o.name for o in outputs], [], [])
    order = node.args.get("order")
    if order:
        query.set("order", bind_order(binder, order, items, None))
    bind_limit(binder, node, query, scope)
    return BoundQuery(query, outputs)


def bind_limit(binder: Binder, node: exp.Expr, query: exp.Query, scope: Scope | None) -> None:
    """LIMIT, FETCH FIRST and OFFSET: constants only."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if isinstance(limit, exp.Fetch):
        options = limit.args.get("limit_options")
        if options and (options.args.get("percent") or options.args.get("with_ties")):
            raise NotSupported("FETCH .. WITH TIES is not supported", position=position(limit))
        query.set("limit", exp.Limit(expression=_count(binder, limit.args.get("count"), limit)))
    elif limit and not isinstance(limit.expression, exp.Null) and limit.expression.name != "ALL":
        query.set("limit", exp.Limit(expression=_count(binder, limit.expression, limit)))
    if offset:
        query.set("offset", exp.Offset(expression=_count(binder, offset.expression, offset)))


def _count(binder: Binder, node: exp.Expr | None, at: exp.Expr) -> exp.Expr:
    if node is None:
        return number(1)
    if isinstance(node, exp.Literal) and node.name.isdigit():
        return number(int(node.name))
    raise NotSupported("LIMIT and OFFSET take a whole number", position=position(at))


def _check_clauses(node: exp.Select) -> None:
    for key, what in _REFUSED.items():
        if node.args.get(key):
            message = f"{what} is not supported"
            raise NotSupported(message, position=position(node))


def _bind_select(binder: Binder, node: exp.Select, outer: Scope | None) -> BoundQuery:
    _check_clauses(node)
    scope = Scope(parent=outer)
    select = exp.Select()
    bind_from(binder, node, scope, select)
    for window in node.args.get("windows") or []:
        scope.windows[fold(window.this)] = window
    items = _select_items(binder, node, scope)
    outputs = tuple(
        Output(name, bound.type, f"c{i}", bound.shape, bound.months)
        for i, (name, bound) in enumerate(zip(items.names, items.bounds, strict=True), 1)
    )
    if where := node.args.get("where"):
        select.set("where", exp.Where(this=condition(binder, where.this, scope, "WHERE")))
    bind_group(binder, node, scope, items, select)
    if having := node.args.get("having"):
        select.set("having", exp.Having(this=condition(binder, having.this, scope, "HAVING")))
    select.set("expressions", [_aliased(b, o) for b, o in zip(items.bounds, outputs, strict=True)])
    distinct = node.args.get("distinct")
    if distinct and distinct.args.get("on"):
        query = _distinct_on(binder, node, scope, items, select)
        bind_limit(binder, node, query, scope)
        return BoundQuery(query, outputs)
    if distinct:
        select.set("distinct", exp.Distinct())
    if order := node.args.get("order"):
        select.set("order", bind_order(binder, order, items, None if distinct else scope))
    bind_limit(binder, node, select, scope)
    return BoundQuery(select, outputs)


def _aliased(bound: Bound, output: Output) -> exp.Expr:
    node = spark_of_cast(bound, TEXT if output.type == UNKNOWN else output.type)
    return exp.Alias(this=node, alias=exp.to_identifier(output.spark))


def condition(binder: Binder, node: exp.Expr, scope: Scope, clause: str) -> exp.Expr:
    """A boolean expression; raises TypeMismatch for another type."""
    bound = binder.bind(node, scope)
    if bound.type.name not in ("boolean", "unknown"):
        message = f"argument of {clause} must be type boolean, not type {bound.type.sql}"
        raise TypeMismatch(message, position=position(node))
    return adapt(bound, Type("boolean")).node


def _select_items(binder: Binder, node: exp.Select, scope: Scope) -> Items:
    items = Items([], [], [])
    for item in node.expressions:
        star = isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        )
        if star:
            table = fold(item.args["table"]) if isinstance(item, exp.Column) else ""
            binder.stars[id(item)] = scope.star_names(table)
            for name, bound in _star(scope, item):
                items.add(name, bound, None)
            continue
        inner = item.this if isinstance(item, exp.Alias) else item
        items.add(output_name(item), binder.bind(inner, scope), inner)
    return items


def _star(scope: Scope, item: exp.Expr) -> list[tuple[str, Bound]]:
    if isinstance(item, exp.Star):
        if not scope.sources:
            raise StatementError(
                "SELECT * with no tables specified is not valid",
                sqlstate="42601",
                position=position(item),
            )
        return scope.star()
    source = scope.source(fold(item.args["table"]), item)
    return [(o.name, source.column(o)) for o in source.outputs]


def _distinct_on(
    binder: Binder, node: exp.Select, scope: Scope, items: Items, select: exp.Select
) -> exp.Query:
    on = node.args["distinct"].args["on"]
    keys = [items.resolve(binder, key, scope).node for key in on.expressions]
    order = node.args.get("order")
    ordered = bind_order(binder, order, items, scope, ordinals=False) if order else None
    row = exp.Window(
        this=call("ROW_NUMBER"),
        partition_by=[key.copy() for key in keys],
        order=ordered or exp.Order(expressions=[exp.Ordered(this=k.copy()) for k in keys]),
    )
    columns = [exp.Column(this=e.args["alias"].copy()) for e in select.expressions]
    extra = [exp.Alias(this=row, alias=exp.to_identifier("rn"))]
    sort: list[exp.Expr] = []
    for i, item in enumerate(ordered.expressions if ordered else [], 1):
        name = exp.to_identifier(f"o{i}")
        extra.append(exp.Alias(this=item.this.copy(), alias=name))
        again = item.copy()
        again.set("this", exp.Column(this=name.copy()))
        sort.append(again)
    select.set("expressions", select.expressions + extra)
    alias = exp.TableAlias(this=exp.to_identifier(binder.fresh("t")))
    outer = exp.Select(expressions=columns).from_(exp.Subquery(this=select, alias=alias))
    outer.set("where", exp.Where(this=binary(exp.EQ, exp.column("rn"), number(1))))
    if sort:
        outer.set("order", exp.Order(expressions=sort))
    return outer


def _bind_set(binder: Binder, node: exp.SetOperation, scope: Scope | None) -> BoundQuery:
    left = binder.query(binder, node.this, scope)
    right = binder.query(binder, node.expression, scope)
    word = type(node).__name__.upper()
    if node.args.get("by_name") or node.args.get("side"):
        raise binder.unsupported(node)
    if len(left.outputs) != len(right.outputs):
        message = f"each {word} query must have the same number of columns"
        raise StatementError(message, sqlstate="42601", position=position(node.expression))
    types = [_met(a, b, word, node) for a, b in zip(left.outputs, right.outputs, strict=True)]
    kind = type(node)
    query = kind(
        this=_typed(binder, left, types),
        expression=_typed(binder, right, types),
        distinct=node.args.get("distinct"),
    )
    outputs = tuple(
        Output(o.name, type_, f"c{i}", None, o.months)
        for i, (o, type_) in enumerate(zip(left.outputs, types, strict=True), 1)
    )
    if not any(node.args.get(key) for key in ("order", "limit", "offset")):
        return BoundQuery(query, outputs)
    wrapped = _over(binder, BoundQuery(query, outputs))
    return finish(binder, node, wrapped, outputs, scope)


def _met(a: Output, b: Output, word: str, node: exp.Expr) -> Type:
    met = common(a.type, b.type)
    if met is None or a.months != b.months:
        message = f"{word} types {a.type.sql} and {b.type.sql} cannot be matched"
        raise TypeMismatch(message, position=position(node.expression))
    return met if a.type == b.type else plain(met)


def _typed(binder: Binder, bound: BoundQuery, types: list[Type]) -> exp.Select:
    """The query with each column cast to its common type."""
    alias = binder.fresh("t")
    columns: list[exp.Expr] = []
    for i, (output, type_) in enumerate(zip(bound.outputs, types, strict=True), 1):
        node = exp.column(exp.to_identifier(output.spark, quoted=True), table=alias)
        value = coerce(Bound(node, output.type, output.shape, output.months), type_, bound.node)
        columns.append(exp.Alias(this=value.node, alias=exp.to_identifier(f"c{i}")))
    table_alias = exp.TableAlias(this=exp.to_identifier(alias))
    return exp.Select(expressions=columns).from_(exp.Subquery(this=bound.node, alias=table_alias))


def bind_values(binder: Binder, node: exp.Values, scope: Scope | None) -> BoundQuery:
    """VALUES as a UNION ALL of rows, so that every row's types are seen."""
    rows = [
        binder.bind_all(list(row.expressions), Scope(parent=scope)) for row in node.expressions
    ]
    if len({len(row) for row in rows}) != 1:
        raise StatementError(
            "VALUES lists must all be the same length", sqlstate="42601", position=position(node)
        )
    types = [_column_type([row[i] for row in rows], node) for i in range(len(rows[0]))]
    outputs = tuple(
        Output(f"column{i}", type_, f"c{i}", None, rows[0][i - 1].months)
        for i, type_ in enumerate(types, 1)
    )
    tuples = [
        exp.Tuple(
            expressions=[spark_of_cast(adapt(b, t), t) for b, t in zip(row, types, strict=True)]
        )
        for row in rows
    ]
    alias = exp.TableAlias(
        this=exp.to_identifier(binder.fresh("t")),
        columns=[exp.to_identifier(o.spark) for o in outputs],
    )
    table = exp.Values(expressions=tuples, alias=alias)
    return BoundQuery(exp.select(*[o.spark for o in outputs]).from_(table), outputs)


def _column_type(column: list[Bound], node: exp.Expr) -> Type:
    return common_of(column, "VALUES", position(node))
