"""`*` over built-in relations written out, by names alone: their columns have no other engine."""

from __future__ import annotations

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.names import Names, fold, parts_of, position, unknown_relation
from catalog.query.outputs import output_name
from catalog.sql.render import identifier

_Columns = list[tuple[str, str]]


def without_stars(query: exp.Query, names: Names) -> exp.Query:
    """The query with every `*` as the columns that it means now.

    Raises UnknownRelation, and NotSupported where columns cannot be told.
    """
    copy = query.copy()
    selects = [copy] if isinstance(copy, exp.Select) else []
    found = [*selects, *(one for one in copy.find_all(exp.Select) if one is not copy)]
    for select in reversed(found):
        if select.is_star:
            select.set("expressions", _expanded(select, names))
        if select is not copy:
            select.set("expressions", [_called(item) for item in select.expressions])
    return copy


def _called(item: exp.Expr) -> exp.Expr:
    """An inner output under the name that it has in PostgreSQL."""
    if isinstance(item, exp.Alias | exp.Column | exp.Star):
        return item
    return exp.alias_(item, output_name(item), quoted=True)


def _expanded(select: exp.Select, names: Names) -> list[exp.Expr]:
    """The select's expressions, each star in place of which its columns stand."""
    columns = _columns(select, names)
    items: list[exp.Expr] = []
    for item in select.expressions:
        if isinstance(item, exp.Star):
            items += [_column(*one) for one in columns]
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            wanted = fold(item.args["table"])
            items += [_column(*one) for one in columns if one[0] == wanted]
        else:
            items.append(item)
    return items


def _column(table: str, name: str) -> exp.Expr:
    parts = [exp.to_identifier(one, quoted=identifier(one) != one) for one in (name, table)]
    return exp.column(parts[0], table=parts[1])


def _columns(select: exp.Select, names: Names) -> _Columns:
    """Alias and name of every column that FROM and its joins give."""
    from_ = select.args.get("from_")
    sources = [from_.this] if from_ is not None else []
    joins = select.args.get("joins") or []
    if any(join.args.get("using") or join.args.get("method") for join in joins):
        raise NotSupported("* over JOIN .. USING of system catalog relations is not supported")
    found: _Columns = []
    for source in (*sources, *(join.this for join in joins)):
        found += [(_alias(source), name) for name in _names(source, names)]
    return found


def _alias(source: exp.Expr) -> str:
    given = source.args.get("alias")
    if given is not None and given.this is not None:
        return fold(given.this)
    return fold(source.this) if isinstance(source, exp.Table) else ""


def _names(source: exp.Expr, names: Names) -> list[str]:
    given = source.args.get("alias")
    renamed = [fold(one) for one in given.columns] if given is not None else []
    found = _own(source, names)
    return renamed + found[len(renamed) :]


def _own(source: exp.Expr, names: Names) -> list[str]:
    if isinstance(source, exp.Subquery):
        return [output_name(item) for item in source.this.selects]
    if not isinstance(source, exp.Table) or isinstance(source.this, exp.Func):
        message = "* over this system catalog query is not supported"
        raise NotSupported(message, hint="Name the columns.")
    parts = parts_of(source)
    cte = _cte(source, parts)
    if cte is not None:
        return cte
    resolved = names.resolve(parts)
    if resolved is None:
        raise unknown_relation(parts, position(source.this))
    return list(resolved.relation.names)


def _cte(table: exp.Table, parts: tuple[str, ...]) -> list[str] | None:
    above: exp.Expr | None = table.parent
    while above is not None and len(parts) == 1:
        with_ = above.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            alias = cte.args["alias"]
            if fold(alias.this) == parts[0]:
                told = [fold(one) for one in alias.columns]
                return told or [output_name(item) for item in cte.this.selects]
        above = above.parent
    return None
