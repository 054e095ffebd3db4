"""A block while it is made: trees instead of texts, so that what is around it can join in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from sqlglot import exp

from catalog.query.blocks.conditions import condition
from catalog.query.blocks.lookups import alone
from catalog.query.blocks.shape import generates, items, outputs, tables
from ingest.contract.views import (
    MZ_DIFF,
    Block,
    BlockKind,
    Condition,
    Fold,
    Ordered,
    Part,
    Partial,
)

_WIDE = ("DECIMAL", "BIGINT")


@dataclass(frozen=True)
class Beside:
    """The block with hidden aggregates behind its own columns, of trees; see `Partial`."""

    hidden: dict[str, exp.Expr]
    whole: exp.Query
    restricted: exp.Query
    folds: tuple[Fold, ...]
    finish: exp.Query

    def partial(self) -> Partial:
        """What the data plane takes of it."""
        meanings = tuple(node.sql(dialect="spark") for node in self.hidden.values())
        texts = (text(self.whole), text(self.restricted))
        finish = (text(self.finish), _copied(self.finish))
        return Partial(tuple(self.hidden), meanings, *texts, self.folds, *finish)


@dataclass(frozen=True)
class Cut:
    """A block of trees; the fields mean what those of `Block` do.

    `touched` are the texts of that name in the `parts`, and `used` the columns that the block
    uses of each child.
    """

    kind: BlockKind
    whole: exp.Query
    children: dict[str, Cut | str] = field(default_factory=dict)
    parts: dict[str, exp.Query] = field(default_factory=dict)
    touched: dict[str, exp.Query] = field(default_factory=dict)
    keys: dict[str, exp.Query] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    restricted: exp.Query | None = None
    output_key: tuple[str, ...] = ()
    order: tuple[exp.Ordered, ...] = ()
    limit: int = 0
    exact: bool = True
    used: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    folds: tuple[Fold, ...] = ()
    finish: exp.Query | None = None
    beside: Beside | None = None

    @property
    def sound(self) -> bool:
        """Whether the block and all below it always give the same rows for the same inputs."""
        below = [child for child in self.children.values() if isinstance(child, Cut)]
        return self.exact and all(child.sound for child in below)

    @property
    def lone(self) -> bool:
        """Whether the block, or one below it, has one row for all that there is."""
        below = [child for child in self.children.values() if isinstance(child, Cut)]
        alone = self.kind == "partitioned" and not self.key
        return alone or any(child.lone for child in below)

    @property
    def _only_added(self) -> set[str]:
        """The values that are added up and not compared."""
        folds = [*self.folds, *(self.beside.folds if self.beside is not None else ())]
        compared = {each.value for each in folds if each.how in ("min", "max")}
        return {each.value for each in folds if each.how == "sum"} - compared

    def block(self) -> Block:
        """The block as the data plane takes it."""
        children = {
            name: child if isinstance(child, str) else child.block()
            for name, child in self.children.items()
        }
        return Block(
            self.kind,
            text(self.whole),
            children,
            parts=tuple(self._part(child, query) for child, query in self.parts.items()),
            keys=tuple(self._keys(child, query) for child, query in self.keys.items()),
            key=self.key,
            restricted=text(self.restricted) if self.restricted is not None else "",
            output_key=self.output_key,
            order=", ".join(key.sql(dialect="spark") for key in self.order),
            ordered=tuple(_ordered(key) for key in self.order),
            limit=self.limit,
            exact=self.exact,
            columns=tuple(outputs(self.whole)),
            folds=self.folds,
            finish=text(self.finish) if self.finish is not None else "",
            copied=_copied(self.finish) if self.finish is not None else (),
        )

    def _part(self, child: str, query: exp.Query) -> Part:
        touched = self.touched.get(child)
        shown = text(touched) if touched is not None else ""
        single, lookups = alone(query, child)
        where = _conditions(single)
        return Part(
            child,
            text(query),
            self.used.get(child),
            shown,
            values=_values(single) if where is not None else None,
            where=where or (),
            lookups=lookups,
        )

    def _keys(self, child: str, query: exp.Query) -> Part:
        single, lookups = alone(query, child)
        plain = _plain(single)
        copied = tuple(plain[name] for name in self.key if name in plain)
        where = _conditions(single)
        values = _values(single, self.key, self._only_added) if where is not None else None
        return Part(
            child,
            text(query),
            self.used.get(child),
            copied=copied if len(copied) == len(self.key) else (),
            values=values,
            where=where or (),
            lookups=lookups,
        )


def recompute(query: exp.Query, reason: str) -> Block:
    """The block of a query that can only be computed again."""
    children: dict[str, Block | str] = {name: name for name in tables(query)}
    names = tuple(outputs(query))
    return Block("recompute", text(query), children, reason=reason, exact=False, columns=names)


def _ordered(key: exp.Ordered) -> Ordered:
    """A sort key, which is a column; null comes last where it does not say otherwise."""
    down, nulls = (bool(key.args.get(name)) for name in ("desc", "nulls_first"))
    return Ordered(key.this.name, down, nulls)


def _values(
    query: exp.Query, key: Collection[str] = (), added: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    """What the query gives beside the `key` of its child's columns; of the names `added` it may be
    a wider number."""
    found = _plain(query) | _widened(query, added)
    return tuple((name, found[name]) for name in found if name not in key)


def _conditions(query: exp.Query) -> tuple[Condition, ...] | None:
    """The conditions under which the query gives one row for each row of the only child that it
    reads, and otherwise none; None where it gives others."""
    item = _only(query)
    if item is None or not isinstance(query, exp.Select) or generates(query):
        return None
    below = _conditions(item.this) if isinstance(item, exp.Subquery) else ()
    where = query.args.get("where")
    if below is None or where is None:
        return below
    found = condition(where.this, _names(item))
    return None if found is None else (*below, found)


def _names(item: exp.Table | exp.Subquery) -> Callable[[exp.Column], str | None]:
    """Which column of the child a column of a FROM item is."""
    if isinstance(item, exp.Table):
        return lambda node: node.name
    plain = _plain(item.this)
    return lambda node: plain.get(node.name)


def _plain(query: exp.Query) -> dict[str, str]:
    """The columns of the query that are columns of the only child that it reads."""
    return {
        name: item.name
        for name, item in _made(query).items()
        if isinstance(item, exp.Column) and name != MZ_DIFF
    }


def _copied(finish: exp.Query) -> tuple[str, ...]:
    """The columns of the folded groups that the query's are; none where one is another thing."""
    plain = _plain(finish)
    names = [name for name in outputs(finish) if name != MZ_DIFF]
    return tuple(plain[name] for name in names) if set(names) <= set(plain) else ()


def _widened(query: exp.Query, names: Collection[str]) -> dict[str, str]:
    """Those of the `names` that are such columns as wide whole or decimal numbers."""
    return {
        name: item.this.name
        for name, item in _made(query).items()
        if name in names
        and isinstance(item, exp.Cast)
        and isinstance(item.this, exp.Column)
        and item.to.sql(dialect="spark").startswith(_WIDE)
    }


def _made(query: exp.Query) -> dict[str, exp.Expr]:
    """What the query makes of the only child that it reads, by name, where that is a column or one
    cast; nothing if it reads several."""
    item = _only(query)
    if item is None:
        return {}
    made = {each.alias_or_name: each.unalias() for each in query.selects}
    if isinstance(item, exp.Table):
        return made
    below = _made(item.this)
    found = {name: _through(node, below) for name, node in made.items()}
    return {name: node for name, node in found.items() if node is not None}


def _through(node: exp.Expr, below: dict[str, exp.Expr]) -> exp.Expr | None:
    """A column of a derived table, or a cast of one, as what it is made of there."""
    if isinstance(node, exp.Column):
        return below.get(node.name)
    inner = _through(node.this, below) if isinstance(node, exp.Cast) else None
    if not isinstance(inner, exp.Column):
        return None
    cast = node.copy()
    cast.set("this", inner.copy())
    return cast


def _only(query: exp.Query) -> exp.Table | exp.Subquery | None:
    """The only FROM item of a SELECT; None where there are others."""
    read = items(query) if isinstance(query, exp.Select) else []
    one = read[0] if len(read) == 1 else None
    return one if isinstance(one, exp.Table | exp.Subquery) else None


def text(query: exp.Query) -> str:
    """A tree in Spark's words."""
    return query.sql(dialect="spark")
