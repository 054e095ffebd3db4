"""Aggregates and window functions: DISTINCT, ORDER BY inside, FILTER, OVER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.binder import Binder, rule
from catalog.query.build import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSONB,
    NUMERIC,
    UNKNOWN,
    Bound,
    binary,
    call,
    cast,
    number,
    text,
    when,
)
from catalog.query.casts import coerce
from catalog.query.expressions import truth, unify
from catalog.query.json_functions import member
from catalog.query.names import UnknownFunction, fold, position
from catalog.query.ordering import ordered
from catalog.query.rewrite_numeric import compute, decimal
from catalog.query.scope import Scope
from catalog.query.types import FLOATS, INTEGERS, number_name, plain
from ingest.contract.types import BIGINT, TEXT, Type

AGGREGATES = frozenset(
    {"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "array_agg"}
    | {"string_agg", "jsonb_agg", "stddev", "stddev_samp", "stddev_pop", "variance"}
    | {"var_samp", "var_pop"}
)
WINDOWS = frozenset(
    {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"}
    | {"first_value", "last_value", "nth_value"}
)
_STATISTICS = {
    "stddev": "STDDEV_SAMP",
    "stddev_samp": "STDDEV_SAMP",
    "stddev_pop": "STDDEV_POP",
    "variance": "VAR_SAMP",
    "var_samp": "VAR_SAMP",
    "var_pop": "VAR_POP",
}


def _wrong(name: str, bound: Bound, node: exp.Expr) -> UnknownFunction:
    message = f"function {name}({bound.type.sql}) does not exist"
    return UnknownFunction(message, position=position(node))


def bind_aggregate(
    binder: Binder,
    name: str,
    arguments: tuple[exp.Expr, ...],
    node: exp.Expr,
    scope: Scope,
) -> Bound:
    """An aggregate in Spark's words."""
    if name == "count":
        return _count(binder, arguments, scope)
    if not arguments:
        message = f"function {name}() does not exist"
        raise UnknownFunction(message, position=position(node))
    argument, order, distinct = _unwrap(arguments[0])
    value = binder.bind(argument, scope)
    if name in ("array_agg", "string_agg", "jsonb_agg"):
        by = binder.bind(arguments[1], scope) if len(arguments) > 1 else None
        return _collect(binder, name, (value, by), (order, distinct), scope)
    if name in ("bool_and", "bool_or", "every"):
        spark = "BOOL_OR" if name == "bool_or" else "BOOL_AND"
        return Bound(call(spark, coerce(value, BOOLEAN, node)), BOOLEAN)
    return _number(name, value, node, distinct=distinct)


def _unwrap(node: exp.Expr) -> tuple[exp.Expr, exp.Order | None, bool]:
    order = node if isinstance(node, exp.Order) else None
    inner = order.this if order else node
    if isinstance(inner, exp.Distinct):
        items = inner.expressions
        return (items[0] if len(items) == 1 else exp.Tuple(expressions=items)), order, True
    return inner, order, False


def _distinct(node: exp.Expr, *, distinct: bool) -> exp.Expr:
    return exp.Distinct(expressions=[node]) if distinct else node


def _count(binder: Binder, arguments: tuple[exp.Expr, ...], scope: Scope) -> Bound:
    if not arguments or isinstance(arguments[0], exp.Star):
        return Bound(call("COUNT", number(1)), BIGINT)
    argument, _, distinct = _unwrap(arguments[0])
    value = binder.bind(argument, scope)
    return Bound(call("COUNT", _distinct(value.node, distinct=distinct)), BIGINT)


def _number(name: str, value: Bound, node: exp.Expr, *, distinct: bool) -> Bound:
    if value.type == UNKNOWN:
        value = coerce(value, TEXT, node)
    if name in ("min", "max"):
        if value.type in (BOOLEAN, JSONB) or value.type.array:
            raise _wrong(name, value, node)
        return Bound(call(name.upper(), value), value.type, value.shape, value.months)
    kind = number_name(value.type)
    if value.type == INTERVAL and name in ("sum", "avg"):
        message = f"{name} of intervals is not supported yet"
        raise NotSupported(message, position=position(node))
    if kind is None:
        raise _wrong(name, value, node)
    if name in _STATISTICS:
        found = call(_STATISTICS[name], _distinct(cast(value.node, "double"), distinct=distinct))
        if kind in FLOATS:
            return Bound(found, DOUBLE)
        return Bound(cast(found, "decimal(38,15)"), NUMERIC, (38, 15))
    return _sum(value, kind, distinct=distinct) if name == "sum" else _avg(value, kind, distinct)


def _sum(value: Bound, kind: str, *, distinct: bool) -> Bound:
    if kind in FLOATS:
        total = call("SUM", _distinct(value.node, distinct=distinct))
        return Bound(cast(total, kind_spark(kind)), Type(kind))
    if kind in ("smallint", "integer"):
        return Bound(call("SUM", _distinct(value.node, distinct=distinct)), BIGINT)
    exact, whole, scale = decimal(value)
    shape = (min(whole + scale + 10, 38), scale)
    return Bound(call("SUM", _distinct(exact, distinct=distinct)), NUMERIC, shape)


def kind_spark(kind: str) -> str:
    """The Spark type of a number's type by name."""
    return Type(kind).spark


def _avg(value: Bound, kind: str, distinct: bool) -> Bound:  # noqa: FBT001
    if kind in FLOATS:
        return Bound(call("AVG", _distinct(value.node, distinct=distinct)), DOUBLE)
    exact, whole, scale = decimal(value)
    total = call("SUM", _distinct(exact, distinct=distinct))
    count = call("COUNT", _distinct(exact, distinct=distinct))
    shape = (min(whole + scale + 10, 38), scale)
    divided = compute(exp.Div, Bound(total, NUMERIC, shape), Bound(count, BIGINT))
    some = binary(exp.GT, count, number(0))
    return Bound(when((some, divided.node)), NUMERIC, divided.shape)


def _collect(
    binder: Binder,
    name: str,
    values: tuple[Bound, Bound | None],
    how: tuple[exp.Order | None, bool],
    scope: Scope,
) -> Bound:
    value, by = values
    order, distinct = how
    if distinct and order is not None and order.this.expressions[0] != order.expressions[0].this:
        raise StatementError(
            "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
            sqlstate="42P10",
        )
    at = order or value.node
    if name == "string_agg":
        if by is None:
            raise _wrong(name, value, at)
        value, by = coerce(value, TEXT, at), coerce(by, TEXT, at)
        if value.type.name != "text":
            raise _wrong(name, value, at)
    if value.type.array or value.type.name == "record":
        message = f"{name} of arrays and rows is not supported yet"
        raise NotSupported(message)
    keys = [(binder.bind(o.this, scope), o) for o in order.expressions] if order else []
    array = _sorted(value, keys, distinct=distinct, nulls=name != "string_agg")
    if name == "string_agg" and by is not None:
        some = binary(exp.GT, call("SIZE", array), number(0))
        return Bound(when((some, call("ARRAY_JOIN", array, by))), TEXT)
    some = binary(exp.GT, call("COUNT", number(1)), number(0))
    if name == "jsonb_agg":
        element = exp.to_identifier("e_")
        item = Bound(exp.Column(this=element), value.type, value.shape)
        shown = exp.Lambda(this=member(item, at), expressions=[element])
        return Bound(when((some, call("TO_JSON", call("TRANSFORM", array, shown)))), JSONB)
    return Bound(when((some, array)), Type(plain(value.type).name, array=True))


def _sorted(
    value: Bound, keys: list[tuple[Bound, exp.Expr]], *, distinct: bool, nulls: bool
) -> exp.Expr:
    """All values as an array in order; NULLs are kept by wrapping each value in a struct."""
    fields: list[exp.Expr] = [_named(value.node, "v")]
    for i, (key, written) in enumerate(keys):
        descending = bool(written.args.get("desc"))
        missing = exp.Paren(this=exp.Is(this=key.node.copy(), expression=exp.Null()))
        first = bool(written.args.get("nulls_first"))
        flag = when((missing, number(0 if first else 2)), other=number(1))
        fields.append(_named(flag, f"n{i}"))
        fields.append(_named(key.node, f"k{i}"))
        fields.append(_named(text("d" if descending else "a"), f"d{i}"))
    collect = "COLLECT_SET" if distinct else "COLLECT_LIST"
    rows = call(collect, call("STRUCT", *fields))
    if not nulls:
        present = exp.Not(this=exp.Is(this=_field("r_", "v"), expression=exp.Null()))
        rows = call("FILTER", rows, _lambda(present, "r_"))
    if keys or distinct:
        rows = call("ARRAY_SORT", rows, _comparator([bool(k[1].args.get("desc")) for k in keys]))
    return call("TRANSFORM", rows, _lambda(_field("r_", "v"), "r_"))


def _named(node: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=node.copy(), alias=exp.to_identifier(name))


def _lambda(body: exp.Expr, *names: str) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])


def _field(row: str, name: str) -> exp.Expr:
    return exp.column(name, table=row)


def _comparator(descending: list[bool]) -> exp.Lambda:
    branches: list[tuple[exp.Expr, exp.Expr]] = []
    for i, down in enumerate(descending):
        branches += _less(f"n{i}", down=False)
        branches += _less(f"k{i}", down=down)
    if not descending:
        missing = exp.Is(this=_field("l_", "v"), expression=exp.Null())
        branches.append((missing, number(1)))
        branches += _less("v", down=False)
    return _lambda(when(*branches, other=number(0)), "l_", "r_")


def _less(name: str, *, down: bool) -> list[tuple[exp.Expr, exp.Expr]]:
    left, right = _field("l_", name), _field("r_", name)
    before, after = (number(1), number(-1)) if down else (number(-1), number(1))
    return [
        (exp.LT(this=left, expression=right), before),
        (exp.GT(this=left, expression=right), after),
    ]


@rule(exp.Filter)
def filtered(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`aggregate FILTER (WHERE ..)`: the condition goes to every Spark aggregate inside."""
    inner = binder.bind(node.this, scope)
    test = truth(binder, node.expression.this, scope, "FILTER")
    return _map_calls(
        inner, lambda found: exp.Filter(this=found, expression=exp.Where(this=test.copy()))
    )


SPARK_AGGREGATES = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "BOOL_AND", "BOOL_OR", "COLLECT_LIST", "COLLECT_SET"}
    | {"STDDEV_SAMP", "STDDEV_POP", "VAR_SAMP", "VAR_POP"}
)
"""The aggregates that Spark's texts are made of."""


def _map_calls(bound: Bound, change: Callable[[exp.Expr], exp.Expr]) -> Bound:
    """Change each Spark aggregate or window function, with its FILTER if it has one."""
    root = exp.Paren(this=bound.node.copy())
    for found in list(root.find_all(exp.Anonymous)):
        if found.this not in SPARK_AGGREGATES | _SPARK_WINDOWS:
            continue
        target = found.parent if isinstance(found.parent, exp.Filter) else found
        target.replace(change(target.copy()))
    return Bound(root.this, bound.type, bound.shape, bound.months)


_SPARK_WINDOWS = frozenset(
    {"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
    | {"FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"}
)


def bind_window_call(
    binder: Binder,
    name: str,
    arguments: tuple[exp.Expr, ...],
    node: exp.Expr,
    scope: Scope,
) -> Bound:
    """A window function; OVER is put around it by `window`."""
    bounds = binder.bind_all(list(arguments), scope)
    if not bounds:
        type_ = DOUBLE if name in ("percent_rank", "cume_dist") else BIGINT
        return Bound(cast(call(name.upper()), type_.spark), type_)
    if name == "ntile":
        return Bound(cast(call("NTILE", *bounds), "int"), INTEGER)
    value = coerce(bounds[0], TEXT, node) if bounds[0].type == UNKNOWN else bounds[0]
    if name in ("lag", "lead") and len(bounds) > 2:
        value, default = unify([value, bounds[2]], name, node)
        return Bound(call(name.upper(), value, bounds[1], default), value.type, value.shape)
    if len(bounds) > 1 and bounds[1].type.name not in INTEGERS:
        raise _wrong(name, bounds[1], node)
    return Bound(call(name.upper(), value, *bounds[1:]), value.type, value.shape, value.months)


@rule(exp.Window)
def window(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`f(..) OVER (..)` or OVER a named window."""
    inner = binder.bind(node.this, scope)
    named = _definition(node, scope)
    partition = [
        binder.bind(k, scope).node
        for k in node.args.get("partition_by") or named("partition_by") or []
    ]
    order = node.args.get("order") or named("order")
    spec = _frame(binder, node.args.get("spec") or named("spec"), scope)
    written = order.expressions if order else []
    keys = [ordered(k, _range_key(binder.bind(k.this, scope), spec)) for k in written]

    def over(found: exp.Expr) -> exp.Expr:
        return exp.Window(
            this=found,
            partition_by=[p.copy() for p in partition],
            order=exp.Order(expressions=[k.copy() for k in keys]) if keys else None,
            spec=spec.copy() if spec else None,
        )

    return _map_calls(inner, over)


def _range_key(key: Bound, spec: exp.WindowSpec | None) -> exp.Expr:
    """Dates become timestamps where the frame is an interval around them."""
    if spec is not None and key.type.name == "date" and spec.find(exp.Interval):
        return cast(key.node, "timestamp_ntz")
    return key.node


def _definition(node: exp.Expr, scope: Scope) -> Callable[[str], Any]:
    alias = node.args.get("alias")
    if alias is None:
        return lambda key: None
    found = scope.windows.get(fold(alias))
    if found is None:
        message = f'window "{alias.name}" does not exist'
        raise StatementError(message, sqlstate="42704", position=position(alias))
    return lambda key: found.args.get(key)


def _frame(binder: Binder, spec: exp.Expr | None, scope: Scope) -> exp.WindowSpec | None:
    if spec is None:
        return None
    if spec.args.get("exclude") or str(spec.args.get("kind")).upper() == "GROUPS":
        raise binder.unsupported(spec)
    parts: dict[str, object] = dict(spec.args)
    for key in ("start", "end"):
        bound = spec.args.get(key)
        if isinstance(bound, exp.Expr):
            parts[key] = binder.bind(bound, scope).node
    return exp.WindowSpec(**parts)
