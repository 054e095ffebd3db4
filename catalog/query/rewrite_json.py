"""jsonb: kept as text, taken apart through Spark's VARIANT."""

from __future__ import annotations

import json
from typing import Any

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.binder import Binder, rule
from catalog.query.build import BOOLEAN, JSONB, UNKNOWN, Bound, both, call, cast, text, when
from catalog.query.names import UnknownFunction, position
from catalog.query.scope import Scope
from ingest.contract.types import TEXT


def as_variant(bound: Bound, at: exp.Expr) -> exp.Expr:
    """A jsonb value as VARIANT; raises UnknownFunction (42883) for another type."""
    if bound.type.name not in ("json", "jsonb", "unknown") or bound.type.array:
        message = f"operator does not exist: {bound.type.sql} -> unknown"
        hint = "Cast the left side to jsonb."
        raise UnknownFunction(message, position=position(at), hint=hint)
    return call("PARSE_JSON", bound.node)


def canonical(bound: Bound) -> Bound:
    """One text for equal jsonb values."""
    return Bound(call("TO_JSON", call("PARSE_JSON", bound.node)), bound.type)


Step = str | int


def json_path(steps: list[Step], at: exp.Expr) -> exp.Expr:
    """A VARIANT path; keys are quoted."""
    path = "$"
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif "'" in step or '"' in step or "\\" in step:
            raise NotSupported(
                "JSON keys with quotes are not supported yet", position=position(at)
            )
        else:
            path += f"['{step}']"
    return text(path)


def _arrow_steps(node: exp.Expr) -> list[Step]:
    """What `->` or `->>` takes: a constant key or a constant index."""
    step = node.expression
    if isinstance(step, exp.JSONPath):
        return [_part(part, node) for part in step.expressions[1:]]
    if isinstance(step, exp.Literal):
        return [step.name if step.is_string else int(step.name)]
    raise NotSupported("JSON keys must be constants for now", position=position(node))


def _part(part: exp.Expr, node: exp.Expr) -> Step:
    if isinstance(part, exp.JSONPathKey) and isinstance(part.this, str):
        return part.this
    if isinstance(part, exp.JSONPathSubscript) and isinstance(part.this, int) and part.this >= 0:
        return part.this
    raise NotSupported("JSON indexes must be constants, from 0", position=position(node))


def _deep_steps(node: exp.Expr) -> list[list[Step]]:
    """What `#>` takes: `'{a,b}'`; a number may be a key or an index."""
    path = node.expression
    if not isinstance(path, exp.Literal) or not path.name.startswith("{"):
        raise NotSupported("JSON paths must be constants such as '{a,b}'", position=position(node))
    parts = [part.strip() for part in path.name.strip("{}").split(",") if part.strip()]
    if any(part.lstrip("-").isdigit() or '"' in part for part in parts):
        readings: list[list[Step]] = [[]]
        for part in parts:
            options: list[Step] = [part, int(part)] if part.isdigit() else [part]
            readings = [[*reading, option] for reading in readings for option in options]
        return readings
    return [list(parts)]


def _get(value: exp.Expr, path: exp.Expr, *, as_json: bool) -> exp.Expr:
    kind = "variant" if as_json else "string"
    found = call("TRY_VARIANT_GET", value, path, text(kind))
    return call("TO_JSON", found) if as_json else found


@rule(exp.JSONExtract, exp.JSONExtractScalar)
def arrow(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`->` and `->>`."""
    value = as_variant(binder.bind(node.this, scope), node)
    as_json = isinstance(node, exp.JSONExtract)
    found = _get(value, json_path(_arrow_steps(node), node), as_json=as_json)
    return Bound(found, JSONB if as_json else TEXT)


@rule(exp.Lambda)
def arrow_as_argument(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`f(doc -> 'a' -> 'b')`, which sqlglot reads as a lambda from `doc`."""
    if len(node.expressions) != 1 or not isinstance(node.expressions[0], exp.Identifier):
        raise binder.unsupported(node)
    chain = node.this.copy()
    first = chain
    while isinstance(first, exp.JSONExtract | exp.JSONExtractScalar):
        first = first.this
    whole = exp.JSONExtract(
        this=exp.Column(this=node.expressions[0].copy()), expression=first.copy()
    )
    if first is chain:
        return binder.bind(whole, scope)
    first.replace(whole)
    return binder.bind(chain, scope)


@rule(exp.JSONBExtract, exp.JSONBExtractScalar)
def deep_arrow(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`#>` and `#>>`."""
    value = as_variant(binder.bind(node.this, scope), node)
    as_json = isinstance(node, exp.JSONBExtract)
    found = [_get(value, json_path(steps, node), as_json=as_json) for steps in _deep_steps(node)]
    joined = found[0] if len(found) == 1 else call("COALESCE", *found)
    return Bound(joined, JSONB if as_json else TEXT)


@rule(exp.JSONBContainsTopKey)
def top_key(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`?`: a key of an object, or a string in an array."""
    left = binder.bind(node.this, scope)
    key = binder.bind(node.expression, scope)
    if key.literal is None:
        raise NotSupported("the key of ? must be a constant", position=position(node))
    variant = as_variant(left, node)
    element = exp.to_identifier("e_")
    as_text = exp.Lambda(this=call("TO_JSON", exp.Column(this=element)), expressions=[element])
    wanted = text(json.dumps(key.literal, ensure_ascii=False))
    in_array = call(
        "ARRAY_CONTAINS", call("TRANSFORM", cast(variant, "array<variant>"), as_text), wanted
    )
    in_object = call("ARRAY_CONTAINS", call("JSON_OBJECT_KEYS", left.node), key.node)
    nothing = exp.Paren(this=exp.Is(this=left.node.copy(), expression=exp.Null()))
    shown = call("TO_JSON", variant)
    node_ = when(
        (nothing, exp.Null()),
        (call("STARTSWITH", shown, text("{")), in_object),
        (call("STARTSWITH", shown, text("[")), in_array),
        other=exp.EQ(this=shown, expression=wanted),
    )
    return Bound(node_, BOOLEAN)


@rule(exp.ArrayContainsAll, exp.ArrayContainedBy)
def contains(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`@>` and `<@`: jsonb against a constant object, or arrays."""
    sides = [binder.bind(node.this, scope), binder.bind(node.expression, scope)]
    whole, part = sides if isinstance(node, exp.ArrayContainsAll) else sides[::-1]
    if whole.type.array:
        return _array_contains(whole, part, node)
    if whole.type.name != "jsonb":
        message = f"operator does not exist: {whole.type.sql} @> {part.type.sql}"
        raise UnknownFunction(message, position=position(node))
    constant = part.literal
    if constant is None and isinstance(part.node, exp.Literal):
        constant = part.node.name
    if constant is None:
        raise NotSupported("the right side of @> must be a constant", position=position(node))
    try:
        wanted = json.loads(constant)
    except ValueError:
        raise StatementError(
            "invalid input syntax for type json", sqlstate="22P02", position=position(node)
        ) from None
    tests = _conditions(as_variant(whole, node), wanted, [], node)
    nothing = exp.Paren(this=exp.Is(this=whole.node.copy(), expression=exp.Null()))
    return Bound(
        when((nothing, exp.Null()), other=call("COALESCE", both(*tests), exp.false())), BOOLEAN
    )


def _conditions(value: exp.Expr, wanted: Any, steps: list[Step], at: exp.Expr) -> list[exp.Expr]:
    found = call("TRY_VARIANT_GET", value, json_path(steps, at), text("variant"))
    shown = call("TO_JSON", found)
    if isinstance(wanted, dict):
        tests: list[exp.Expr] = [call("STARTSWITH", shown, text("{"))]
        for key, inner in wanted.items():
            tests += _conditions(value, inner, [*steps, key], at)
        return tests
    if isinstance(wanted, list):
        raise NotSupported(
            "arrays on the right side of @> are not supported yet", position=position(at)
        )
    if isinstance(wanted, str | bool) or wanted is None:
        same = exp.EQ(this=shown, expression=text(json.dumps(wanted, ensure_ascii=False)))
        return [exp.Paren(this=same)]
    digits = exp.Not(this=call("REGEXP_LIKE", shown, text('^["tfn\\[{]')))
    number = cast(text(str(wanted)), "decimal(38,18)")
    same = exp.EQ(this=cast(shown, "decimal(38,18)", safe=True), expression=number)
    return [digits, exp.Paren(this=same)]


def _array_contains(whole: Bound, part: Bound, node: exp.Expr) -> Bound:
    if not part.type.array or part.type.name != whole.type.name:
        if part.type != UNKNOWN:
            message = f"operator does not exist: {whole.type.sql} @> {part.type.sql}"
            raise UnknownFunction(message, position=position(node))
        raise NotSupported("cast the array constant to its type", position=position(node))
    missing = call("ARRAY_EXCEPT", part.node, whole.node)
    return Bound(
        exp.Paren(this=exp.EQ(this=call("SIZE", missing), expression=exp.Literal.number(0))),
        BOOLEAN,
    )
