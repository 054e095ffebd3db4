"""Joins of a child with others, each by columns that are equal, as lookups behind its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from catalog.query.blocks.shape import column, conjuncts, is_outer, items, joins, plain
from ingest.contract.views import Lookup


def alone(query: exp.Query, child: str) -> tuple[exp.Query, tuple[Lookup, ...]]:
    """A query over joined tables as one over the `child` alone, behind whose columns those of the
    lookups stand; as it is where it cannot be told so."""
    read = items(query) if isinstance(query, exp.Select) else []
    tables = [item for item in read if isinstance(item, exp.Table)]
    own = [item for item in tables if item.name == child]
    if not isinstance(query, exp.Select) or len(read) < 2 or len(own) != 1:
        return query, ()
    if len(tables) < len(read) or any(map(is_outer, joins(query))):
        return query, ()
    tests = [test for on in joins(query) for test in conjuncts(on.args.get("on"))]
    tests += conjuncts(query.args.get("where"))
    found = _lookups(query, own[0], [item for item in tables if item is not own[0]], tests)
    return (query, ()) if found is None else found


def _lookups(
    query: exp.Select, own: exp.Table, others: Sequence[exp.Table], tests: list[exp.Expr]
) -> tuple[exp.Query, tuple[Lookup, ...]] | None:
    """None where one of the others is not found by equal columns."""
    known, rest, found = {own.alias: ""}, list(others), list[Lookup]()
    while rest:
        pairs = {item.alias: _pairs(tests, known, item.alias) for item in rest}
        item = next((item for item in rest if pairs[item.alias]), None)
        if item is None:
            return None
        rest.remove(item)
        before = dict(known)
        known[item.alias] = f"{item.name}."
        on = [(before[left.table] + left.name, right.name) for left, right, _ in pairs[item.alias]]
        used = {node.name for node in query.find_all(exp.Column) if node.table == item.alias}
        columns = [(known[item.alias] + name, name) for name in sorted(used)]
        found.append(Lookup(item.name, tuple(on), tuple(columns)))
        spent = [test for _, _, test in pairs[item.alias]]
        tests = [test for test in tests if not any(test is each for each in spent)]
    return _rewritten(query, own, known, tests), tuple(found)


def _pairs(
    tests: Sequence[exp.Expr], known: Collection[str], alias: str
) -> list[tuple[exp.Column, exp.Column, exp.Expr]]:
    """The conditions that a column of the item `alias` is one that is known."""
    found: list[tuple[exp.Column, exp.Column, exp.Expr]] = []
    for test in tests:
        if not isinstance(test, exp.EQ):
            continue
        sides = [plain(test.this), plain(test.expression)]
        for left, right in (sides, sides[::-1]):
            if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
                continue
            if left.table in known and right.table == alias:
                found.append((left, right, test))
    return found


def _rewritten(
    query: exp.Select, own: exp.Table, known: dict[str, str], tests: Sequence[exp.Expr]
) -> exp.Select:
    def moved(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and known.get(node.table):
            return column(known[node.table] + node.name, own.alias)
        return node

    copy = query.copy()
    copy.set("joins", None)
    copy.set("from_", exp.From(this=own.copy()))
    every = exp.and_(*(test.copy() for test in tests)) if tests else None
    copy.set("where", exp.Where(this=every) if every is not None else None)
    rewritten = copy.transform(moved)
    if not isinstance(rewritten, exp.Select):
        raise TypeError(type(rewritten))
    return rewritten
