"""jsonb functions: build, aggregate arguments, look inside."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.binder import Binder, rule
from catalog.query.build import INTEGER, JSONB, UNKNOWN, Bound, call, cast, text
from catalog.query.casts import as_text
from catalog.query.names import position
from catalog.query.rewrite_json import as_variant
from catalog.query.scope import Scope
from catalog.query.types import INTEGERS, is_text
from ingest.contract.types import TEXT

Special = Callable[[Binder, list[Bound], exp.Expr], Bound]


def member(value: Bound, node: exp.Expr) -> exp.Expr:
    """A value as it goes into a JSON document, as VARIANT; raises NotSupported."""
    name = value.type.name
    if value.type.array:
        raise NotSupported("arrays inside JSON are not supported yet", position=position(node))
    if name in ("json", "jsonb"):
        return call("COALESCE", call("PARSE_JSON", value.node), _nothing())
    if name in INTEGERS or name == "boolean":
        return call("COALESCE", cast(value.node, "variant"), _nothing())
    if name == "numeric":
        return call("COALESCE", call("PARSE_JSON", as_text(value)), _nothing())
    if is_text(value.type) or value.type == UNKNOWN or name == "uuid":
        return call("COALESCE", cast(cast(value.node, "string"), "variant"), _nothing())
    if name == "date":
        return call("COALESCE", cast(cast(value.node, "string"), "variant"), _nothing())
    message = f"{value.type.sql} inside JSON is not supported yet"
    raise NotSupported(message, position=position(node))


def _nothing() -> exp.Expr:
    return call("PARSE_JSON", text("null"))


def _build_object(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    if len(arguments) % 2:
        raise NotSupported(
            "argument list must have even number of elements", position=position(node)
        )
    pairs: list[exp.Expr] = []
    for key, value in zip(arguments[::2], arguments[1::2], strict=True):
        pairs += [as_text(key), member(value, node)]
    return Bound(call("TO_JSON", call("MAP", *pairs)), JSONB)


def _build_array(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    return Bound(call("TO_JSON", call("ARRAY", *[member(a, node) for a in arguments])), JSONB)


def _length(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    as_variant(arguments[0], node)
    return Bound(call("JSON_ARRAY_LENGTH", arguments[0]), INTEGER)


def _typeof(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    kind = call("SCHEMA_OF_VARIANT", as_variant(arguments[0], node))
    case = exp.Case(
        ifs=[
            exp.If(this=call("STARTSWITH", kind.copy(), text(start)), true=text(name))
            for start, name in (
                ("OBJECT", "object"),
                ("ARRAY", "array"),
                ("STRING", "string"),
                ("BOOLEAN", "boolean"),
                ("VOID", "null"),
            )
        ],
    )
    nothing = exp.Paren(this=exp.Is(this=kind.copy(), expression=exp.Null()))
    case.set("default", text("number"))
    case.args["ifs"].insert(0, exp.If(this=nothing, true=exp.Null()))
    return Bound(case, TEXT)


JSON: dict[str, tuple[int, int, Special]] = {
    "json_build_array": (0, 99, _build_array),
    "json_build_object": (0, 99, _build_object),
    "jsonb_array_length": (1, 1, _length),
    "json_array_length": (1, 1, _length),
    "jsonb_build_array": (0, 99, _build_array),
    "jsonb_build_object": (0, 99, _build_object),
    "jsonb_typeof": (1, 1, _typeof),
}


@rule(exp.JSONBObjectAgg)
def object_agg(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """jsonb_object_agg(key, value): the last of equal keys is refused by Spark, not guessed."""
    key, value = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    entries = call("COLLECT_LIST", call("STRUCT", as_text(key), member(value, node)))
    built = call("TO_JSON", call("MAP_FROM_ENTRIES", entries))
    some = exp.GT(this=call("COUNT", exp.Literal.number(1)), expression=exp.Literal.number(0))
    return Bound(exp.Case(ifs=[exp.If(this=some, true=built)]), JSONB)
