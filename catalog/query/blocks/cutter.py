"""From a bound query to its tree of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from catalog.query.blocks import outer, partitions, semi, sets
from catalog.query.blocks.cuts import Beside, Cut
from catalog.query.blocks.folds import Present
from catalog.query.blocks.linear import is_linear, signed, used
from catalog.query.blocks.nesting import around, nested
from catalog.query.blocks.shape import (
    Recompute,
    aggregates,
    check,
    column,
    derived,
    generates,
    is_outer,
    items,
    joins,
    named,
    outputs,
    per_row,
    plain,
    subqueries,
    windows,
)
from ingest.contract.views import MZ_DIFF, Fold


@dataclass
class Cutter:
    """One query's cutting: fresh names for its blocks (`b1`) and derived tables (`x1`).

    `present` are the columns of each input that are never null.
    """

    present: Present = field(default_factory=dict)
    counter: int = 0

    def fresh(self, prefix: str) -> str:
        """A name that nothing else in the texts has."""
        self.counter += 1
        return f"{prefix}{self.counter}"

    def cut(self, query: exp.Query) -> Cut:
        """The block of a query; raises Recompute with the reason when there is none."""
        if isinstance(query, exp.Subquery):
            return self.cut(query.this)
        if isinstance(query, exp.SetOperation):
            return self._set(query)
        if not isinstance(query, exp.Select):
            raise Recompute("a query of an unknown kind")
        check(query)
        if query.args.get("limit") or query.args.get("offset"):
            raise Recompute("LIMIT below the top of the query")
        return self._select(query)

    def inline(self, query: exp.Query, children: dict[str, Cut | str]) -> exp.Query:
        """The query over children: derived tables that are not linear become blocks."""
        if isinstance(query, exp.Subquery):
            return self.inline(query.this, children)
        copy = query.copy()
        if isinstance(copy, exp.SetOperation):
            for side in ("this", "expression"):
                copy.set(side, self.inline(copy.args[side], children))
            return copy
        if isinstance(copy, exp.Select):
            check(copy)
            for item in items(copy):
                self._item(item, children)
        return copy

    def _item(self, item: exp.Expr, children: dict[str, Cut | str]) -> None:
        if isinstance(item, exp.Table):
            children[item.name] = item.name
        elif isinstance(item, exp.Subquery) and is_linear(item.this):
            item.set("this", self.inline(item.this, children))
        elif isinstance(item, exp.Subquery):
            name = self.fresh("b")
            children[name] = self.cut(item.this)
            alias = item.args["alias"].copy()
            item.replace(exp.Table(this=exp.to_identifier(name), alias=alias))

    def _select(self, select: exp.Select) -> Cut:
        if is_linear(select):
            return self._linear(select)
        if select.args.get("distinct"):
            return self._distinct(select)
        source = not is_linear(partitions.source(select))
        if aggregates(select) or windows(select):
            if source:
                select = nested(select, len(items(select)), self.fresh("x"), where=True)
            return partitions.cut(self, select)
        return self._joined(select)

    def _linear(self, select: exp.Select) -> Cut:
        lone = [item for item in items(select) if not per_row(item)]
        if len(lone) == 1 and isinstance(lone[0], exp.Subquery):
            inner = self.cut(lone[0].this)
            if inner.kind == "partitioned":
                return _fused(select, lone[0].alias, inner)
        return self.linear(select)

    def linear(self, query: exp.Query) -> Cut:
        """The block of a query that is linear."""
        children: dict[str, Cut | str] = {}
        inlined = self.inline(query, children)
        parts = {child: signed(inlined, child) for child in children}
        return Cut("linear", query, children, parts=parts, used=used(inlined, children))

    def _distinct(self, select: exp.Select) -> Cut:
        every = select.copy()
        every.set("distinct", None)
        over = select
        if not is_linear(every) or generates(every):
            over = around(every, self.fresh("x"))
            over.set("distinct", exp.Distinct())
        return replace(partitions.cut(self, partitions.grouped(over)), whole=select)

    def _joined(self, select: exp.Select) -> Cut:
        """Outer and semi joins: one a block, the last one first."""
        if subqueries(select.args.get("where")):
            select = semi.joined(self, select)
        followed = [i for i, join in enumerate(joins(select)) if is_outer(join)]
        last = followed[-1]
        if len(followed) > 1 and last == len(joins(select)) - 1:
            return self._select(nested(select, last + 1, self.fresh("x")))
        if last != len(joins(select)) - 1:
            return self._select(nested(select, last + 2, self.fresh("x")))
        return outer.cut(self, select)

    def _set(self, query: exp.SetOperation) -> Cut:
        if is_linear(query):
            return self.linear(query)
        if isinstance(query, exp.Union):
            copy = query.copy()
            every = exp.Union(this=copy.this, expression=copy.expression, distinct=False)
            over = around(every, self.fresh("x"))
            over.set("distinct", exp.Distinct())
            return replace(self.cut(over), whole=query)
        return sets.cut(self, query)


def _fused(select: exp.Select, alias: str, inner: Cut) -> Cut:
    """A filter and projection of a partitioned block, as one with it."""

    def over(query: exp.Query, *more: str) -> exp.Select:
        copy = select.copy()
        found = next(item for item in items(copy) if item.alias == alias)
        found.replace(derived(query.copy(), alias))
        for name in more:
            copy.append("expressions", named(column(name, alias), name))
        return copy

    if inner.restricted is None:
        raise TypeError(inner.kind)
    folds = _folds(select, alias, inner.folds)
    return replace(
        inner,
        whole=select,
        parts={child: over(part, MZ_DIFF) for child, part in inner.parts.items()},
        restricted=over(inner.restricted),
        output_key=_renamed(select, alias, inner.output_key),
        folds=folds,
        finish=over(inner.finish, MZ_DIFF) if folds and inner.finish is not None else None,
        beside=_beside(select, alias, inner.beside, over),
    )


def _folds(
    select: exp.Select, alias: str, folds: tuple[Fold, ...], hidden: Iterable[str] = ()
) -> tuple[Fold, ...]:
    """The folds under the columns' new names; none when one of them is not given, or when a row
    of the inner block may give none or several."""
    given = _given(select, alias) | {name: name for name in hidden}
    filters = select.args.get("where") is not None
    row_by_row = len(items(select)) == 1 and not filters and not generates(select)
    if not row_by_row or not all(fold.column in given for fold in folds):
        return ()
    return tuple(replace(fold, column=given[fold.column]) for fold in folds)


def _beside(
    select: exp.Select, alias: str, inner: Beside | None, over: Callable[..., exp.Select]
) -> Beside | None:
    """The hidden columns behind those of the projection, unless a name of them is taken."""
    if inner is None or {name.lower() for name in outputs(select)} & set(inner.hidden):
        return None
    folds = _folds(select, alias, inner.folds, inner.hidden)
    if not folds:
        return None
    return Beside(
        inner.hidden,
        over(inner.whole, *inner.hidden),
        over(inner.restricted, *inner.hidden),
        folds,
        over(inner.finish, *inner.hidden, MZ_DIFF),
    )


def _renamed(select: exp.Select, alias: str, names: tuple[str, ...]) -> tuple[str, ...]:
    given = _given(select, alias)
    return tuple(given[name] for name in names) if set(names) <= set(given) else ()


def _given(select: exp.Select, alias: str) -> dict[str, str]:
    """What a projection calls the columns that it gives as they are."""
    return {
        node.name: item.alias_or_name
        for item in select.expressions
        if isinstance(node := plain(item), exp.Column) and node.table in ("", alias)
    }
