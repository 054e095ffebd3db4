"""A check's expression to Python functions, its kinds checked on the way."""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from catalog.errors import InvalidStatement, UnknownItem
from catalog.plan.checking import kinds
from catalog.plan.checking.functions import FUNCTIONS, Function
from catalog.plan.checking.kinds import Kind, Unfit
from catalog.sql.nodes.webhook import Call, Cast, Check, Expression, Input, Value

__all__ = ["Compiled", "Unfit", "compile_check"]
Values = Mapping[str, Any]
NOW = "\0now"
_SPECIAL = frozenset(
    ("and", "or", "not", "is null", "is true", "is false", "in", "between", "coalesce", "concat")
) | {"nullif", "now"}


@dataclass(frozen=True)
class _Node:
    kind: Kind
    run: Callable[[Values], Any]
    constant: bool = False


@dataclass(frozen=True)
class Compiled:
    """A condition. `run` takes the inputs' values by name, and the moment of the request."""

    root: Callable[[Values], Any]

    def run(self, values: Values, now: dt.datetime) -> bool | None:
        """Whether the request meets it; None for null. Raises Unfit."""
        found = self.root({**values, NOW: now})
        return None if found is None else bool(found)


def compile_check(check: Check) -> Compiled:
    """The check's condition. Raises UnknownItem for names that are not there, InvalidStatement
    for kinds that do not fit and for a condition that looks at nothing of the request."""
    inputs: dict[str, Kind] = {}
    for one in check.inputs:
        if one.name in inputs:
            message = f'column name "{one.name}" specified more than once in CHECK'
            raise InvalidStatement(message, sqlstate="42701")
        inputs[one.name] = _input_kind(one.kind, as_bytes=one.as_bytes)
    used: set[str] = set()
    root = _Compiler(inputs, used).node(check.expression)
    if root.kind not in {"boolean", "null"}:
        message = f"expected CHECK expression to have type boolean, found {root.kind}"
        raise InvalidStatement(message, sqlstate="42804", position=_at(check.at))
    if not used:
        message = "expression provided in CHECK does not reference any columns"
        raise InvalidStatement(message, position=_at(check.at))
    return Compiled(root.run)


def _input_kind(kind: str, *, as_bytes: bool) -> Kind:
    if kind == "headers":
        return "byte map" if as_bytes else "map"
    return "bytea" if as_bytes else "text"


def _at(at: int) -> int | None:
    return at if at >= 0 else None


class _Compiler:
    def __init__(self, inputs: Mapping[str, Kind], used: set[str]) -> None:
        self._inputs = inputs
        self._used = used

    def node(self, expression: Expression) -> _Node:
        match expression:
            case Value():
                return _value(expression)
            case Input():
                return self._input(expression)
            case Cast():
                return self._cast(expression)
            case Call():
                return self._call(expression)

    def _input(self, one: Input) -> _Node:
        if one.name not in self._inputs:
            hint = "Name it first: CHECK (WITH (HEADERS, BODY, SECRET s) ..)."
            message = f'column "{one.name}" does not exist'
            raise UnknownItem(message, hint=hint, sqlstate="42703", position=_at(one.at))
        self._used.add(one.name)
        name = one.name
        return _Node(self._inputs[name], lambda values: values[name])

    def _cast(self, one: Cast) -> _Node:
        inner, target = self.node(one.value), kinds.kind_of(one.type)
        if target is None or not kinds.castable(inner.kind, target):
            message = f"CHECK does not support casting {inner.kind} to {one.type}"
            raise InvalidStatement(message, sqlstate="42846", position=_at(one.at))
        run, source, whole = inner.run, inner.kind, one.type in {"smallint", "integer", "bigint"}

        def cast(values: Values) -> Any:
            value = run(values)
            made = None if value is None else kinds.cast(value, source, target)
            if whole and made is not None and made != made.to_integral_value():
                raise Unfit("invalid input syntax for a whole number")
            return made

        return _Node(target, cast)

    def _call(self, one: Call) -> _Node:
        if one.name not in _SPECIAL and one.name not in FUNCTIONS:
            self._unknown(one)
        arguments = [self.node(argument) for argument in one.arguments]
        if one.name in _SPECIAL:
            return self._special(one, arguments)
        function = _overload(FUNCTIONS[one.name], arguments)
        if function is None:
            self._no_overload(one, arguments)
        runs = [_as(a, kind) for a, kind in zip(arguments, function.takes, strict=True)]
        work = function.run

        def call(values: Values) -> Any:
            given = [run(values) for run in runs]
            return None if any(value is None for value in given) else work(*given)

        return _Node(function.gives, call)

    def _special(self, one: Call, arguments: list[_Node]) -> _Node:
        match one.name:
            case "now":
                return _Node("timestamp", lambda values: values[NOW])
            case "and" | "or" | "not" | "is true" | "is false":
                return self._logic(one, arguments)
            case "is null":
                run = arguments[0].run
                return _Node("boolean", lambda values: run(values) is None)
            case "concat":
                runs = [_as(argument, "text") for argument in arguments]
                return _Node("text", lambda values: "".join(run(values) or "" for run in runs))
            case _:
                return self._compared(one, arguments)

    def _logic(self, one: Call, arguments: list[_Node]) -> _Node:
        for argument in arguments:
            if argument.kind not in {"boolean", "null"}:
                word = one.name.upper().removeprefix("IS ")
                message = f"argument of {word} must be type boolean, not type {argument.kind}"
                raise InvalidStatement(message, sqlstate="42804", position=_at(one.at))
        runs = [argument.run for argument in arguments]
        match one.name:
            case "not":
                return _Node("boolean", lambda values: _negated(runs[0](values)))
            case "is true" | "is false":
                wanted = one.name == "is true"
                return _Node("boolean", lambda values: runs[0](values) is wanted)
            case _:
                stops = one.name == "or"
                return _Node("boolean", lambda values: _joined(runs, values, stops=stops))

    def _compared(self, one: Call, arguments: list[_Node]) -> _Node:
        """IN, BETWEEN, COALESCE and NULLIF: all arguments are of one kind."""
        given = [a.kind for a in arguments if not a.constant and a.kind != "null"]
        kind: Kind = given[0] if given else "text"
        if any(_fit(argument, kind) is None for argument in arguments) or len(arguments) < 2:
            self._no_overload(one, arguments)
        runs = [_as(argument, kind) for argument in arguments]
        match one.name:
            case "in":
                return _Node("boolean", lambda values: _among(runs, values))
            case "between":
                return _Node("boolean", lambda values: _between(runs, values))
            case "nullif":
                return _Node(kind, lambda values: _null_if(runs, values))
            case _:
                return _Node(kind, lambda values: _first(runs, values))

    def _unknown(self, one: Call) -> NoReturn:
        near = difflib.get_close_matches(one.name, [*FUNCTIONS, *_SPECIAL], n=1)
        hint = f'Did you mean "{near[0]}"?' if near else None
        message = f'function "{one.name}" does not exist in CHECK'
        raise UnknownItem(message, hint=hint, sqlstate="42883", position=_at(one.at))

    def _no_overload(self, one: Call, arguments: list[_Node]) -> NoReturn:
        shown = ", ".join(argument.kind for argument in arguments)
        message = f"{one.name}({shown}) does not exist in CHECK"
        hint = "Cast the arguments: value::type. BODY BYTES and SECRET s BYTES give bytea."
        raise UnknownItem(message, hint=hint, sqlstate="42883", position=_at(one.at))


def _value(one: Value) -> _Node:
    match one.kind:
        case "number":
            made = kinds.number(str(one.value))
            return _Node("number", lambda _: made)
        case "interval":
            try:
                length = kinds.interval(str(one.value))
            except Unfit as error:
                raise InvalidStatement(str(error), sqlstate="22007") from None
            return _Node("interval", lambda _: length)
        case _:
            value = one.value
            return _Node(one.kind, lambda _: value, constant=one.kind == "text")


def _fit(argument: _Node, kind: Kind) -> int | None:
    """How well an argument fits: 0 exactly, 1 as a constant that is still to be read, or None."""
    if argument.kind == kind:
        return 0
    if argument.kind == "null" or (argument.constant and kinds.castable("text", kind)):
        return None if kind in {"map", "byte map"} else 1
    return None


def _overload(choices: tuple[Function, ...], arguments: list[_Node]) -> Function | None:
    best: tuple[int, Function] | None = None
    for choice in choices:
        if len(choice.takes) != len(arguments):
            continue
        fits = [_fit(a, kind) for a, kind in zip(arguments, choice.takes, strict=True)]
        known = [fit for fit in fits if fit is not None]
        if len(known) == len(fits) and (best is None or sum(known) < best[0]):
            best = (sum(known), choice)
    return best[1] if best else None


def _as(argument: _Node, kind: Kind) -> Callable[[Values], Any]:
    """The argument's value as `kind`; a constant is read at once."""
    run = argument.run
    if argument.kind == kind or argument.kind == "null":
        return run
    if argument.constant:
        try:
            made = kinds.cast(run({}), "text", kind)
        except Unfit as error:
            raise InvalidStatement(str(error), sqlstate="22P02") from None
        return lambda _: made
    source = argument.kind

    def converted(values: Values) -> Any:
        value = run(values)
        return None if value is None else kinds.cast(value, source, kind)

    return converted


def _negated(value: Any) -> bool | None:
    return None if value is None else not value


_Runs = list[Callable[[Values], Any]]


def _joined(runs: _Runs, values: Values, *, stops: bool) -> bool | None:
    found: bool | None = not stops
    for run in runs:
        value = run(values)
        if value is stops:
            return bool(value)
        if value is None:
            found = None
    return found


def _among(runs: _Runs, values: Values) -> bool | None:
    wanted = runs[0](values)
    if wanted is None:
        return None
    others = [run(values) for run in runs[1:]]
    if wanted in others:
        return True
    return None if None in others else False


def _between(runs: _Runs, values: Values) -> bool | None:
    value, low, high = (run(values) for run in runs)
    return None if None in (value, low, high) else bool(low <= value <= high)


def _null_if(runs: _Runs, values: Values) -> Any:
    value, other = (run(values) for run in runs)
    return None if value == other else value


def _first(runs: _Runs, values: Values) -> Any:
    found = (run(values) for run in runs)
    return next((value for value in found if value is not None), None)
