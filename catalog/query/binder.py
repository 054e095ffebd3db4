"""The state of one compilation, and the dispatch from an expression to its rule.

A rule is registered for one or more sqlglot node classes by the module of its family
(`rewrite_numeric`, `rewrite_text`, ...). What has no rule is refused, so that no query means
something else on Spark than it does in PostgreSQL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.build import Bound
from catalog.query.names import Names, Resolved, position
from catalog.query.scope import Output, Scope

DEEPEST = 60
"""How deep views and subqueries may nest."""


@dataclass(frozen=True)
class Moment:
    """The time a query reads at: mz_now() in ms, and now() in UTC."""

    mz_now: int
    now: dt.datetime


@dataclass(frozen=True)
class BoundQuery:
    """A query in Spark's words and what it gives."""

    node: exp.Query
    outputs: tuple[Output, ...]


@dataclass
class Binder:
    """One compilation: the names it may use, what it has read, and fresh Spark aliases.

    `found` are the items read, by id.
    `stars` keeps what each `*` meant, by the node's id(): the FROM item's name and the column's.
    """

    names: Names
    moment: Moment
    found: dict[str, Resolved] = field(default_factory=dict)
    ctes: dict[str, BoundQuery] = field(default_factory=dict)
    query: Callable[[Binder, exp.Expr, Scope | None], BoundQuery] = field(repr=False, kw_only=True)
    stars: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    counter: int = 0
    depth: int = 0

    @property
    def items(self) -> frozenset[str]:
        """The ids of the items read."""
        return frozenset(self.found)

    def fresh(self, prefix: str) -> str:
        """An alias that nothing else in the text has."""
        self.counter += 1
        return f"{prefix}{self.counter}"

    def bind(self, node: exp.Expr, scope: Scope) -> Bound:
        """An expression in Spark's words.

        Raises StatementError for what cannot be resolved, typed or said in Spark.
        """
        rule = RULES.get(type(node))
        if rule is None:
            raise self.unsupported(node)
        return rule(self, node, scope)

    def bind_all(self, nodes: list[exp.Expr], scope: Scope) -> list[Bound]:
        """Each of the expressions."""
        return [self.bind(node, scope) for node in nodes]

    def unsupported(self, node: exp.Expr) -> StatementError:
        """The refusal of an expression that has no rule."""
        text = node.sql(dialect="postgres")
        shown = text if len(text) <= 60 else text[:57] + "..."
        return NotSupported(f"{shown} is not supported yet", position=position(node))


Rule = Callable[[Binder, exp.Expr, Scope], Bound]
RULES: dict[type[exp.Expr], Rule] = {}


def rule(*kinds: type[exp.Expr]) -> Callable[[Rule], Rule]:
    """Register a function as the rule for these node classes."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            RULES[kind] = function
        return function

    return register
