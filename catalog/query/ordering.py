"""ORDER BY: output names and positions first, then inputs; NULLs as PostgreSQL places them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.errors import StatementError
from catalog.query.binder import Binder
from catalog.query.build import Bound, number
from catalog.query.names import fold, position
from catalog.query.scope import Scope


@dataclass
class Items:
    """The select list: names, bound expressions, and what the user wrote (None from a star)."""

    names: list[str]
    bounds: list[Bound]
    written: list[exp.Expr | None]

    def add(self, name: str, bound: Bound, written: exp.Expr | None) -> None:
        """One more column."""
        self.names.append(name)
        self.bounds.append(bound)
        self.written.append(written)

    def index(self, node: exp.Expr, clause: str) -> int | None:
        """Which output a position or a bare name means; raises for a bad position."""
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
            index = int(node.name) - 1
            if not 0 <= index < len(self.names):
                message = f"{clause} position {index + 1} is not in select list"
                raise StatementError(message, sqlstate="42P10", position=position(node))
            return index
        if isinstance(node, exp.Column) and not node.table:
            return self._named(node)
        return self.written.index(node) if node in self.written else None

    def _named(self, node: exp.Column) -> int | None:
        name = fold(node.this)
        hits = [i for i, found in enumerate(self.names) if found == name]
        if len({self.bounds[i].node for i in hits} if self.bounds else set(hits)) > 1:
            message = f'ORDER BY "{name}" is ambiguous'
            raise StatementError(message, sqlstate="42702", position=position(node))
        return hits[0] if hits else None

    def resolve(self, binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
        """The expression itself, of an output or of the inputs."""
        index = self.index(node, "SELECT DISTINCT ON")
        return binder.bind(node, scope) if index is None else self.bounds[index]


def bind_order(
    binder: Binder,
    order: exp.Order,
    items: Items,
    scope: Scope | None,
    *,
    ordinals: bool = True,
) -> exp.Order:
    """ORDER BY in Spark's words. Without a scope only outputs may be named."""
    keys: list[exp.Expr] = []
    for key in order.expressions:
        index = items.index(key.this, "ORDER BY")
        if index is not None and ordinals:
            node: exp.Expr = number(index + 1)
        elif index is not None:
            node = items.bounds[index].node.copy()
        elif scope is None:
            raise StatementError(
                "ORDER BY expressions must appear in select list here",
                sqlstate="42P10",
                position=position(key),
            )
        else:
            node = binder.bind(key.this, scope).node
        keys.append(ordered(key, node))
    return exp.Order(expressions=keys)


def ordered(key: exp.Expr, node: exp.Expr) -> exp.Ordered:
    """One sort key with its direction; NULLs count as largest unless said otherwise."""
    if not isinstance(key, exp.Ordered):
        return exp.Ordered(this=node, desc=False, nulls_first=False)
    return exp.Ordered(
        this=node,
        desc=bool(key.args.get("desc")),
        nulls_first=bool(key.args.get("nulls_first")),
    )
