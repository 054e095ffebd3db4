"""A parsed query to Spark SQL: the entrance of `catalog.query`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from catalog.errors import NotSupported, StatementError

# Importing a family registers its rules.
from catalog.query import (  # noqa: F401
    aggregates,
    arrays,
    casts,
    expressions,
    functions,
    json_functions,
    rewrite_json,
    rewrite_numeric,
    rewrite_text,
    rewrite_time,
)
from catalog.query.binder import Binder, BoundQuery, Moment
from catalog.query.blocks import blocks
from catalog.query.build import Bound, call
from catalog.query.casts import as_text
from catalog.query.light import is_light
from catalog.query.names import Names, parts_of, position, unknown_relation
from catalog.query.scope import Output, settled
from catalog.query.select import bind_query
from catalog.sql.render import identifier
from ingest.contract.relation import Column, Relation
from ingest.contract.views import Block

QueryKind = Literal["data", "system", "constant"]
_NO_MOMENT = Moment(0, dt.datetime(1970, 1, 1, tzinfo=dt.UTC))


@dataclass(frozen=True)
class Reads:
    """What a query looks at: item ids (views included), and which engine answers it.

    `constant`: reads nothing and means the same anywhere, such as `SELECT 1` or
    `SELECT current_user`; other queries without inputs are Spark's (`data`), whose rewrites know
    PostgreSQL's arithmetic.
    """

    kind: QueryKind
    items: frozenset[str]
    views: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Compiled:
    """A query for Spark: `sql` names its inputs by item id; `relation` is what comes back.

    The columns of Spark's answer are `relation`'s in order; their names there are the same but
    for duplicates. `items` are the ids of the tables and sources it reads.
    """

    sql: str
    items: frozenset[str]
    relation: Relation


@dataclass(frozen=True)
class MaintainedQuery:
    """A query that is kept: its blocks, the item id of each of their inputs, and what it gives.

    `key` are columns of `block` that no two rows share, empty when none are known.
    """

    block: Block
    inputs: dict[str, str]
    relation: Relation
    key: tuple[str, ...] = ()

    def key_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """The key under other names for the columns, in their order."""
        places = dict(zip(self.block.columns, names, strict=True))
        return tuple(places[name] for name in self.key)


def inspect(query: exp.Expr, names: Names) -> Reads:
    """What the query reads, through views.

    Raises UnknownRelation (42P01), and NotSupported when it mixes system relations with data.
    """
    items: set[str] = set()
    views: set[str] = set()
    system = _collect(query, names, items, views)
    data = items - system
    if system and data:
        raise NotSupported("cannot join system catalog relations with user collections yet")
    kind: QueryKind = "system" if system else "data"
    if not items and is_light(query):
        kind = "constant"
    return Reads(kind, frozenset(items), frozenset(views))


def _collect(query: exp.Expr, names: Names, items: set[str], views: set[str]) -> set[str]:
    system: set[str] = set()
    for table in query.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            continue
        parts = parts_of(table)
        if len(parts) == 1 and _is_cte(table, parts[0]):
            continue
        found = names.resolve(parts)
        if found is None:
            raise unknown_relation(parts, position(table.this))
        if found.query is not None:
            views.add(found.id)
            system |= _collect(found.query, found.names or names, items, views)
            continue
        items.add(found.id)
        if found.kind == "system":
            system.add(found.id)
    return system


def _is_cte(table: exp.Table, name: str) -> bool:
    inside: exp.Expr = table
    node = table.parent
    while node is not None:
        with_ = node.args.get("with_")
        if with_ is not None and with_ is not inside and name in _cte_names(with_, None):
            return True
        if isinstance(node, exp.With) and name in _cte_names(node, inside):
            return True
        inside, node = node, node.parent
    return False


def _cte_names(with_: exp.With, before: exp.Expr | None) -> list[str]:
    names: list[str] = []
    for cte in with_.expressions:
        if cte is before and not with_.args.get("recursive"):
            break
        alias = cte.args["alias"].this
        names.append(alias.name if alias.args.get("quoted") else alias.name.lower())
    return names


def without_stars(query: exp.Query, names: Names, moment: Moment) -> exp.Query:
    """The query with every `*` written out as the columns that it means now.

    A `*` over columns of equal names stays: their subquery fixes them. Raises as `compile_query`.
    """
    copy = query.copy()
    binder = Binder(names, moment, query=bind_query)
    bind_query(binder, copy, None)
    selects = [copy] if isinstance(copy, exp.Select) else []
    for select in (*selects, *copy.find_all(exp.Select)):
        items: list[exp.Expr] = []
        for item in select.expressions:
            meant = binder.stars.get(id(item), [])
            plain = len(set(meant)) == len(meant)
            items += [_column_of(*one) for one in meant] if meant and plain else [item]
        select.set("expressions", items)
    return copy


def _column_of(table: str, name: str) -> exp.Expr:
    column = exp.to_identifier(name, quoted=identifier(name) != name)
    owner = exp.to_identifier(table, quoted=identifier(table) != table) if table else None
    return exp.column(column, table=owner)


def compile_query(query: exp.Expr, names: Names, moment: Moment) -> Compiled:
    """The query in Spark's words, everything resolved and typed.

    Raises StatementError with position: 42P01 unknown relation, 42703 unknown column, 42702
    ambiguous column, 42883 unknown function or operator, 42804 types that cannot meet, 0A000 what
    is understood but not done.
    """
    binder = Binder(names, moment, query=bind_query)
    named, relation = _bound(binder, query)
    return Compiled(named.sql(dialect="spark"), binder.items, relation)


def compile_view(query: exp.Expr, names: Names) -> MaintainedQuery:
    """The query cut into blocks that can be kept up to date.

    It must read no time; see `catalog.query.blocks.unmaintainable`. Raises as `compile_query`.
    """
    binder = Binder(names, _NO_MOMENT, query=bind_query)
    named, relation = _bound(binder, query)
    kept = blocks(named, binder.found)
    return MaintainedQuery(kept.block, kept.inputs, relation, kept.key)


def _bound(binder: Binder, query: exp.Expr) -> tuple[exp.Query, Relation]:
    try:
        bound = bind_query(binder, query, None)
    except RecursionError:
        raise StatementError("query is nested too deeply", sqlstate="54001") from None
    bound = BoundQuery(bound.node, settled(bound.outputs))
    return _named(bound), Relation(tuple(Column(o.name, o.type) for o in bound.outputs))


def _named(bound: BoundQuery) -> exp.Query:
    """The outermost query with the user's column names, and intervals and rows as text."""
    names = _unique([output.name for output in bound.outputs])
    rendered = [o for o in bound.outputs if o.type.name == "interval"]
    if isinstance(bound.node, exp.Select) and not rendered:
        node = bound.node
        for item, name in zip(node.expressions, names, strict=True):
            inner = item.this if isinstance(item, exp.Alias) else item
            item.replace(exp.Alias(this=inner.copy(), alias=exp.to_identifier(name, quoted=True)))
        return node
    return _wrap(bound, names)


def _wrap(bound: BoundQuery, names: list[str]) -> exp.Query:
    alias = exp.TableAlias(this=exp.to_identifier("q"))
    columns = [
        exp.Alias(this=_shown(o), alias=exp.to_identifier(name, quoted=True))
        for o, name in zip(bound.outputs, names, strict=True)
    ]
    return exp.Select(expressions=columns).from_(exp.Subquery(this=bound.node, alias=alias))


def _shown(output: Output) -> exp.Expr:
    node = exp.column(exp.to_identifier(output.spark, quoted=True), table="q")
    bound = Bound(node, output.type, output.shape, output.months)
    if output.type.name == "interval" and not output.type.array:
        return as_text(bound)
    if output.type.name == "record":
        return call("TO_JSON", node)
    return node


def _unique(names: list[str]) -> list[str]:
    taken: set[str] = set()
    out: list[str] = []
    for name in names:
        candidate, n = name, 1
        while candidate.lower() in taken:
            n += 1
            candidate = f"{name}_{n}"
        taken.add(candidate.lower())
        out.append(candidate)
    return out
