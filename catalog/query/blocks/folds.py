"""Groups that follow from their stored rows and what changed: counts, sums, least, greatest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Literal

from sqlglot import exp

from catalog.query.blocks.exact import is_exact
from catalog.query.blocks.shape import (
    column,
    generates,
    is_aggregate,
    items,
    named,
    own,
    plain,
    windows,
)
from catalog.query.build import call, number, when
from ingest.contract.views import FOLDED, MZ_DIFF, Fold

How = Literal["rows", "count", "sum", "min", "max"]
_HOW: dict[str, How] = {"COUNT": "count", "SUM": "sum", "MIN": "min", "MAX": "max"}
Present = Mapping[str, frozenset[str]]
"""The columns of each input that are never null."""


@dataclass(frozen=True)
class Groups:
    """How groups follow from what is stored of them: `folds` for what they follow from, and the
    block's columns and mz_diff made of the folded groups, `finish`."""

    folds: tuple[Fold, ...]
    finish: exp.Select


@dataclass(frozen=True)
class Folding:
    """`values` are the aggregates' arguments, which the changes must give as v1, ..

    `plain`: what follows from the SELECT's own columns, None when they are not enough. `beside`:
    what follows when the aggregates `hidden`, by name, are stored beside them; None when nothing
    is to be had of that.
    """

    values: list[exp.Expr]
    plain: Groups | None
    beside: Groups | None
    hidden: dict[str, exp.Expr]


def folding(select: exp.Select, keys: list[exp.Expr], present: Present) -> Folding | None:
    """How a SELECT with aggregates can be folded; None when it cannot."""
    if windows(select) or select.args.get("having") or select.args.get("distinct"):
        return None
    if generates(select):
        return None
    calls = _calls(select)
    if not is_exact(select) or not all(_how(call) for call in calls):
        return None
    sure = _sure(select, present)
    states = [_state(call, sure) for call in calls]
    finish = _finish(select, keys, calls)
    if finish is None:
        return None
    stored = {plain(out): out.alias_or_name for out in reversed(select.expressions)}
    known = {
        state: stored[call] for state, call in zip(states, calls, strict=True) if call in stored
    }
    wanted = list(dict.fromkeys([*states, *_helpers(states)]))
    values = list(dict.fromkeys(value for _, value, _ in wanted if value is not None))
    enough = bool(states) and all(state in known for state in states)
    own = Groups(_folds(states, known, values), _signed(finish)) if enough else None
    hidden = _hidden(select, [state for state in wanted if state not in known])
    if not keys or not hidden:
        return Folding(values, own, None, {}) if own is not None else None
    everywhere = known | {state: name for name, state in hidden.items()}
    every = [*states, *(state for state in wanted if state not in states)]
    wide = finish.copy()
    wide.set("expressions", [*wide.expressions, *_beside(hidden, every)])
    beside = Groups(_folds(every, everywhere, values), _signed(wide))
    return Folding(values, own, beside, {name: _call(one) for name, one in hidden.items()})


State = tuple[How, exp.Expr | None, bool]
_ROWS: State = ("rows", None, True)


def _helpers(states: list[State]) -> list[State]:
    """What tells whether a group is still there, and whether its sums still are."""
    counts: list[State] = [
        ("count", value, False) for how, value, certain in states if how == "sum" and not certain
    ]
    return [_ROWS, *counts]


def _hidden(select: exp.Select, missing: list[State]) -> dict[str, State]:
    """Names for states, none of which a column of the SELECT has."""
    taken = {out.alias_or_name.lower() for out in select.expressions}
    names = (name for n in count(1) if (name := _number("mz_partial_", n)) not in taken)
    return dict(zip(names, missing, strict=False))


def _call(state: State) -> exp.Expr:
    """The aggregate that gives a state."""
    how, value, _ = state
    name = next(name for name, each in _HOW.items() if each == ("count" if value is None else how))
    return call(name, number(1) if value is None else value.copy())


def _folds(
    states: list[State], names: Mapping[State, str], values: list[exp.Expr]
) -> tuple[Fold, ...]:
    return tuple(
        Fold(how, names[how, value, sure], _value_name(values, value), sure)
        for how, value, sure in states
    )


def _beside(hidden: Mapping[str, State], states: list[State]) -> list[exp.Expr]:
    """The hidden columns of the folded groups."""
    return [
        named(column(_number("s", states.index(state) + 1), FOLDED), name)
        for name, state in hidden.items()
    ]


def _calls(select: exp.Select) -> list[exp.Expr]:
    """The aggregates of the select list, each with its FILTER."""
    found: dict[exp.Expr, None] = {}
    for node in own(*select.expressions):
        if is_aggregate(node):
            around = node.parent
            found[(around if isinstance(around, exp.Filter) else node).copy()] = None
    return list(found)


def _parts(call: exp.Expr) -> tuple[str, list[exp.Expr], exp.Expr | None]:
    """The aggregate's name and arguments, and the condition of its FILTER."""
    inner = call.this if isinstance(call, exp.Filter) else call
    test = call.expression.this if isinstance(call, exp.Filter) else None
    return str(inner.this), inner.expressions, test


def _how(call: exp.Expr) -> How | None:
    name, arguments, _ = _parts(call)
    whole = len(arguments) == 1 and not isinstance(arguments[0], exp.Distinct)
    return _HOW.get(name) if whole else None


def _state(call: exp.Expr, sure: set[exp.Expr]) -> State:
    """What has to be known of a group. Counting what is never null is counting rows."""
    name, (argument,), test = _parts(call)
    how = _HOW[name]
    if test is not None:
        return how, when((test, argument)), False
    certain = isinstance(argument, exp.Literal) or _inner(argument) in sure
    if how == "count" and certain:
        return "rows", None, True
    return how, argument, certain


def _inner(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren | exp.Cast) and not isinstance(node, exp.TryCast):
        node = node.this
    return node


def _sure(select: exp.Select, present: Present) -> set[exp.Expr]:
    return {
        column(name, item.alias)
        for item in items(select)
        if isinstance(item, exp.Table)
        for name in present.get(item.name, ())
    }


def _value_name(values: list[exp.Expr], value: exp.Expr | None) -> str:
    return "" if value is None else _number("v", values.index(value) + 1)


def _number(letter: str, number: int) -> str:
    return letter + str(number)


def _finish(select: exp.Select, keys: list[exp.Expr], calls: list[exp.Expr]) -> exp.Select | None:
    """The select list over the folded groups; None when it needs more than they have."""
    names = {call: _number("s", i) for i, call in enumerate(calls, 1)}
    names |= {key: _number("k", i) for i, key in enumerate(keys, 1)}
    outputs: list[exp.Expr] = []
    for out in select.expressions:
        made = out.copy().transform(lambda node: _folded(node, names))
        if any(found.table != FOLDED for found in made.find_all(exp.Column)):
            return None
        outputs.append(made)
    return exp.Select(expressions=outputs).from_(exp.to_identifier(FOLDED).name)


def _signed(finish: exp.Select) -> exp.Select:
    """The same with mz_diff behind it."""
    copy = finish.copy()
    copy.append("expressions", named(column(MZ_DIFF, FOLDED), MZ_DIFF))
    return copy


def _folded(node: exp.Expr, names: dict[exp.Expr, str]) -> exp.Expr:
    return column(names[node], FOLDED) if node in names else node
