"""Set-returning functions in FROM: generate_series, unnest, jsonb_array_elements, ..."""

from __future__ import annotations

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.binder import Binder, rule
from catalog.query.build import Bound, binary, call, cast, number, when
from catalog.query.calls import pg_call
from catalog.query.names import UnknownFunction, fold, position
from catalog.query.rewrite_json import as_variant
from catalog.query.scope import Output, Scope, Source
from catalog.query.types import adapt, common_of, is_integer
from ingest.contract.types import TEXT, Type


def bind_function(
    binder: Binder, node: exp.Expr, alias: exp.TableAlias | None, scope: Scope
) -> tuple[exp.Expr, list[Source]]:
    """A set-returning function as a FROM item; it may refer to the items before it."""
    name, exploded, type_ = explode(binder, node, scope)
    spark, column = binder.fresh("t"), "c1"
    table_alias = exp.TableAlias(
        this=exp.to_identifier(spark), columns=[exp.to_identifier(column)]
    )
    called = fold(alias.this) if alias and alias.this else name
    columns = alias.columns if alias else []
    given = fold(columns[0]) if columns else (called if alias else name)
    if name == "jsonb_array_elements" and not columns:
        given = "value"
    source = Source(called, spark, (Output(given, type_, column),))
    return exp.Lateral(this=exploded, alias=table_alias), [source]


@rule(exp.ExplodingGenerateSeries, exp.GenerateSeries, exp.Explode)
def in_select(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """A set-returning function in the select list: Spark takes one, and only there."""
    _, exploded, type_ = explode(binder, node, scope)
    return Bound(exploded, type_)


def explode(binder: Binder, node: exp.Expr, scope: Scope) -> tuple[str, exp.Expr, Type]:
    """The function's name, `EXPLODE(array)` and the type of its rows."""
    if isinstance(node, exp.ExplodingGenerateSeries | exp.GenerateSeries):
        array, type_ = _series(binder, node, scope)
        return "generate_series", call("EXPLODE", array), type_
    if isinstance(node, exp.Explode | exp.Unnest):
        return _unnest(binder, node, scope)
    called = pg_call(node)
    if called and called.name in ("jsonb_array_elements", "jsonb_array_elements_text"):
        return _elements(binder, called.name, called.args[0], scope)
    name = called.name if called else node.sql(dialect="postgres")
    if called and called.name in ("read_files", "range", "delta", "table_changes"):
        message = f"function {name} does not exist"
        raise UnknownFunction(message, position=position(node))
    message = f"table function {name} is not supported"
    raise NotSupported(message, position=position(node))


def _elements(
    binder: Binder, name: str, argument: exp.Expr, scope: Scope
) -> tuple[str, exp.Expr, Type]:
    value = as_variant(binder.bind(argument, scope), argument)
    element = exp.to_identifier("e_")
    if name == "jsonb_array_elements":
        body, type_ = call("TO_JSON", exp.Column(this=element)), Type("jsonb")
    else:
        body, type_ = cast(exp.Column(this=element), "string"), TEXT
    array = cast(value, "array<variant>")
    mapped = call("TRANSFORM", array, exp.Lambda(this=body, expressions=[element]))
    return name, call("EXPLODE", mapped), type_


def _unnest(binder: Binder, node: exp.Expr, scope: Scope) -> tuple[str, exp.Expr, Type]:
    arguments = node.expressions if isinstance(node, exp.Unnest) else [node.this]
    if len(arguments) != 1 or node.args.get("offset"):
        raise NotSupported("unnest takes one array", position=position(node))
    array = binder.bind(arguments[0], scope)
    if not array.type.array:
        message = f"function unnest({array.type.sql}) does not exist"
        raise UnknownFunction(message, position=position(node))
    element = Type(array.type.name, array.type.precision, array.type.scale)
    return "unnest", call("EXPLODE", array), element


def _series(binder: Binder, node: exp.Expr, scope: Scope) -> tuple[exp.Expr, Type]:
    start = binder.bind(node.args["start"], scope)
    end = binder.bind(node.args["end"], scope)
    step_node = node.args.get("step")
    step = binder.bind(step_node, scope) if step_node else None
    if is_integer(start) and is_integer(end) and (step is None or is_integer(step)):
        type_ = common_of([start, end, *([step] if step else [])], "generate_series")
        low, high = adapt(start, type_).node, adapt(end, type_).node
        by = adapt(step, type_).node if step else cast(number(1), type_.spark)
        up = binary(exp.GT, by, number(0))
        return _guarded(low, high, by, up, type_), type_
    if step is not None and step.type.name == "interval":
        return _times(start, end, step, node)
    message = f"function generate_series({start.type.sql}, {end.type.sql}) does not exist"
    raise UnknownFunction(message, position=position(node))


def _times(start: Bound, end: Bound, step: Bound, node: exp.Expr) -> tuple[exp.Expr, Type]:
    type_ = common_of([start, end], "generate_series", position(node))
    if type_.name == "date":
        type_ = Type("timestamp with time zone")
    low, high = adapt(start, type_).node, adapt(end, type_).node
    zero = "INTERVAL '0' MONTH" if step.months else "INTERVAL '0' SECOND"
    up = binary(exp.GT, step.node, exp.maybe_parse(zero, dialect="spark"))
    return _guarded(low, high, step.node, up, type_), type_


def _guarded(
    low: exp.Expr,
    high: exp.Expr,
    by: exp.Expr,
    up: exp.Expr,
    type_: Type,
) -> exp.Expr:
    """SEQUENCE, but empty when the step leads away from the end."""
    empty = cast(call("ARRAY"), f"array<{type_.spark}>")
    rising = exp.and_(up, binary(exp.LTE, low, high))
    falling = exp.and_(exp.Not(this=up.copy()), binary(exp.GTE, low, high))
    sequence = call("SEQUENCE", low, high, by)
    unknown = exp.Paren(this=exp.Is(this=binary(exp.EQ, low, high), expression=exp.Null()))
    return when(
        (unknown, empty),
        (exp.Paren(this=exp.or_(rising, falling)), sequence),
        other=empty,
    )
