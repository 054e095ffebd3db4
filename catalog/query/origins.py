"""Which columns of which relations every column of a query is made from; pure.

Only values count: what a query filters, joins or groups by decides which rows there are, not what
is in a column. Names must be full, as they are in a stored definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope
from sqlglot.schema import MappingSchema

from catalog.query.names import fold

Path = tuple[str, ...]
Origin = tuple[Path, str]
"""A relation's full name, and one of its columns."""
Origins = tuple[frozenset[Origin], ...]
_DIALECT = "materialize"


def origins(query: exp.Query, relations: Mapping[Path, Sequence[str]]) -> Origins | None:
    """Origins of the query's columns, in their order; None when they cannot be told.

    `relations` gives the columns of everything that the query reads, by full name.
    """
    schema = MappingSchema(dialect=_DIALECT, normalize=False)
    for path, columns in relations.items():
        schema.add_table(_table(path), dict.fromkeys(columns, "text"))
    try:
        qualified = qualify(
            query.copy(),
            dialect=_DIALECT,
            schema=schema,
            validate_qualify_columns=False,
            quote_identifiers=False,
        )
        scope = build_scope(qualified)
        if scope is None:
            return None
        return tuple(_of_output(scope, place, ()) for place in range(len(_names(scope))))
    except (SqlglotError, RecursionError):
        return None


def _table(path: Path) -> exp.Table:
    parts = [exp.to_identifier(part, quoted=True) for part in reversed(path)]
    return exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))


def _names(scope: Scope) -> list[str]:
    query = scope.expression
    return query.named_selects if isinstance(query, exp.Query | exp.UDTF) else []


_Seen = tuple[tuple[int, int], ...]


def _of_output(scope: Scope, place: int, seen: _Seen) -> frozenset[Origin]:
    """Where the output column at `place` comes from; `seen` ends a recursive WITH."""
    here = (id(scope), place)
    if here in seen:
        return frozenset()
    seen = (*seen, here)
    if scope.set_operation_scopes:
        parts = (_of_output(one, place, seen) for one in scope.set_operation_scopes)
        return frozenset().union(*parts)
    selects = scope.expression.selects if isinstance(scope.expression, exp.Query) else []
    if place >= len(selects):
        return frozenset()
    return frozenset(_of_expression(scope, selects[place], seen))


def _of_expression(scope: Scope, expression: exp.Expr, seen: _Seen) -> Iterator[Origin]:
    inner = {id(one.expression): one for one in scope.subquery_scopes}
    for node in expression.walk(prune=lambda node: id(node) in inner):
        if id(node) in inner:
            subquery = inner[id(node)]
            for place in range(len(_names(subquery))):
                yield from _of_output(subquery, place, seen)
        elif isinstance(node, exp.Column):
            yield from _of_column(scope, node, seen)


def _of_column(scope: Scope, column: exp.Column, seen: _Seen) -> Iterator[Origin]:
    source = scope.sources.get(column.table)
    if isinstance(source, exp.Table):
        path = tuple(fold(part) for part in source.parts if isinstance(part, exp.Identifier))
        yield path, column.name
    elif isinstance(source, Scope):
        names = _names(source)
        if column.name in names:
            yield from _of_output(source, names.index(column.name), seen)
