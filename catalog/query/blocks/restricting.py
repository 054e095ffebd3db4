"""A query for some keys alone: semi joins with them, as near to the tables as can be."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.blocks.shape import column, conjuncts, items, joins, owners, plain
from ingest.contract.views import AFFECTED


def restrict(
    select: exp.Select, keys: list[exp.Expr], equal: list[set[exp.Expr]], count: int
) -> None:
    """Keep only rows of the first `count` FROM items whose keys are among those affected.

    `equal` are columns that are the same in every row; with them each item can be cut down
    before they are joined. Changes the query in place.
    """
    aliases = {item.alias for item in items(select)[:count]}
    complete = False
    for i, item in enumerate(items(select)[:count]):
        if not isinstance(item, exp.Table | exp.Subquery):
            continue
        here = _within(item.alias, keys, equal, aliases)
        if here:
            complete = complete or len(here) == len(keys)
            item.replace(_wrapped(item, here, f"a{i + 1}"))
    if not complete:
        every = list(enumerate(keys, 1))
        rest = joins(select)
        select.set("joins", [*rest[: count - 1], _semi(every, "a0"), *rest[count - 1 :]])


def equalities(*conditions: exp.Expr | None) -> list[set[exp.Expr]]:
    """Sets of columns that conditions make equal."""
    found: list[set[exp.Expr]] = []
    for condition in conditions:
        for node in conjuncts(condition):
            if not isinstance(node, exp.EQ):
                continue
            pair = {plain(node.this), plain(node.expression)}
            if all(isinstance(side, exp.Column) for side in pair):
                met = [group for group in found if group & pair]
                found = [group for group in found if group not in met]
                found.append(pair.union(*met))
    return found


def _within(
    alias: str, keys: list[exp.Expr], equal: list[set[exp.Expr]], aliases: set[str]
) -> list[tuple[int, exp.Expr]]:
    """The keys, by number, that one FROM item has."""
    found: list[tuple[int, exp.Expr]] = []
    for i, key in enumerate(keys, 1):
        same = [key, *(node for group in equal if plain(key) in group for node in group)]
        mine = next((node for node in same if owners(node, aliases) <= {alias}), None)
        if mine is not None:
            found.append((i, mine))
    return found if any(owners(node, aliases) for _, node in found) else []


def _wrapped(item: exp.Expr, keys: list[tuple[int, exp.Expr]], alias: str) -> exp.Expr:
    star = exp.Column(this=exp.Star(), table=exp.to_identifier(item.alias))
    inner = exp.Select(expressions=[star]).from_(item.copy())
    inner.set("joins", [_semi(keys, alias)])
    return exp.Subquery(this=inner, alias=item.args["alias"].copy())


def _semi(keys: list[tuple[int, exp.Expr]], alias: str) -> exp.Join:
    affected = exp.Table(
        this=exp.to_identifier(AFFECTED), alias=exp.TableAlias(this=exp.to_identifier(alias))
    )
    tests = [
        exp.NullSafeEQ(this=exp.Paren(this=key.copy()), expression=column(f"k{i}", alias))
        for i, key in keys
    ]
    return exp.Join(this=affected, side="LEFT", kind="SEMI", on=exp.and_(*tests))
