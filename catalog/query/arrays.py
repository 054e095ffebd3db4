"""Arrays: ARRAY[..], subscripts from 1, array functions."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.binder import Binder, rule
from catalog.query.build import INTEGER, UNKNOWN, Bound, binary, call, cast, number, text, when
from catalog.query.calls import pg_call
from catalog.query.casts import as_text, coerce
from catalog.query.names import UnknownFunction, position
from catalog.query.rewrite_text import check_pattern
from catalog.query.scope import Scope
from catalog.query.types import INTEGERS, common_of, is_text, plain
from ingest.contract.types import TEXT, Type


def element_of(array: Type) -> Type:
    """The type of an array's elements."""
    return Type(array.name, array.precision, array.scale)


@rule(exp.Array)
def array(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`ARRAY[a, b]`."""
    if node.expressions and isinstance(node.expressions[0], exp.Query):
        raise NotSupported("ARRAY(query) is not supported yet", position=position(node))
    values = binder.bind_all(node.expressions, scope)
    if any(value.type.array for value in values):
        raise NotSupported("arrays of arrays are not supported yet", position=position(node))
    type_ = plain(common_of(values, "ARRAY", position(node)))
    items = [coerce(value, type_, node) for value in values]
    made = call("ARRAY", *items)
    whole = Type(type_.name, array=True)
    return Bound(made if items else cast(made, whole.spark), whole)


@rule(exp.Bracket)
def subscript(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`x[i]`: NULL outside the bounds; sqlglot has already made the index count from 0."""
    if len(node.expressions) != 1 or isinstance(node.expressions[0], exp.Slice):
        raise NotSupported("array slices are not supported yet", position=position(node))
    inner = node.this.this if isinstance(node.this, exp.Paren) else node.this
    called = pg_call(inner)
    if called and called.name == "regexp_match":
        return _match_group(binder, called.args, node, scope)
    whole = binder.bind(node.this, scope)
    if not whole.type.array:
        message = (
            f"cannot subscript type {whole.type.sql} because it does not support subscripting"
        )
        raise UnknownFunction(message, sqlstate="42804", position=position(node))
    index = binder.bind(node.expressions[0], scope)
    if index.type.name not in INTEGERS:
        raise NotSupported("array subscript must have type integer", position=position(node))
    element = element_of(whole.type)
    shape = (element.precision, element.scale or 0) if element.precision else None
    return Bound(call("GET", whole.node, cast(index.node, "int")), element, shape)


def _match_group(
    binder: Binder, arguments: tuple[exp.Expr, ...], node: exp.Expr, scope: Scope
) -> Bound:
    """`(regexp_match(x, pattern))[n]`."""
    value, pattern = (coerce(binder.bind(a, scope), TEXT, node) for a in arguments[:2])
    check_pattern(pattern, node)
    index = node.expressions[0]
    if len(arguments) > 2 or not isinstance(index, exp.Literal):
        raise NotSupported(
            "this form of regexp_match is not supported yet", position=position(node)
        )
    written = pattern.node.name
    group = int(index.name) + 1
    if "(" not in written:
        group -= 1
    found = call("REGEXP_LIKE", value.node, pattern.node)
    return Bound(
        when((found, call("REGEXP_EXTRACT", value.node, pattern.node, number(group)))), TEXT
    )


Special = Callable[[Binder, list[Bound], exp.Expr], Bound]


def _need(arguments: list[Bound], node: exp.Expr, name: str, at: int = 0) -> Bound:
    bound = arguments[at]
    if not bound.type.array:
        kinds = ", ".join(a.type.sql for a in arguments)
        message = f"function {name}({kinds}) does not exist"
        raise UnknownFunction(message, position=position(node))
    return bound


def _length(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    size = call("SIZE", _need(arguments, node, "array_length"))
    one = binary(exp.EQ, arguments[1].node, number(1))
    some = binary(exp.GT, size, number(0))
    return Bound(when((exp.Paren(this=exp.and_(one, some)), size)), INTEGER)


def _cardinality(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = _need(arguments, node, "cardinality")
    nothing = exp.Paren(this=exp.Is(this=value.node.copy(), expression=exp.Null()))
    return Bound(when((exp.Not(this=nothing), call("SIZE", value))), INTEGER)


def _to_string(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = _need(arguments, node, "array_to_string")
    element = exp.to_identifier("e_")
    item = Bound(exp.Column(this=element), element_of(value.type))
    shown = exp.Lambda(this=as_text(item), expressions=[element])
    texts = call("TRANSFORM", value.node, shown)
    return Bound(call("ARRAY_JOIN", texts, *arguments[1:]), TEXT)


def _append(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = _need(arguments, node, "array_append")
    item = coerce(arguments[1], element_of(value.type), node)
    base = call("COALESCE", value.node, cast(call("ARRAY"), value.type.spark))
    return Bound(call("CONCAT", base, call("ARRAY", item)), value.type)


def _position(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = _need(arguments, node, "array_position")
    item = coerce(arguments[1], element_of(value.type), node)
    found = cast(call("ARRAY_POSITION", value.node, item), "int")
    return Bound(call("NULLIF", found, number(0)), INTEGER)


def _split(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value, by = arguments
    if not is_text(value.type) and value.type != UNKNOWN:
        raise NotSupported("string_to_array takes text", position=position(node))
    if not by.literal:
        raise NotSupported("the separator must be a constant", position=position(node))
    pattern = text("\\Q" + by.literal + "\\E")
    parts = call("SPLIT", value.node, pattern)
    empty = cast(call("ARRAY"), "array<string>")
    return Bound(
        when((binary(exp.EQ, value.node, text("")), empty), other=parts), Type("text", array=True)
    )


ARRAYS: dict[str, tuple[int, int, Special]] = {
    "array_append": (2, 2, _append),
    "array_length": (2, 2, _length),
    "array_position": (2, 2, _position),
    "array_to_string": (2, 3, _to_string),
    "cardinality": (1, 1, _cardinality),
    "string_to_array": (2, 2, _split),
}


@rule(exp.ArrayAppend, exp.ArrayPosition, exp.StringToArray)
def named(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """array_append, array_position, string_to_array."""
    names: dict[type[exp.Expr], str] = {
        exp.ArrayAppend: "array_append",
        exp.ArrayPosition: "array_position",
    }
    name = names.get(type(node), "string_to_array")
    arguments = binder.bind_all([node.this, node.expression], scope)
    return ARRAYS[name][2](binder, arguments, node)
