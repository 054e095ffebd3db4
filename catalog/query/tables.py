"""FROM: tables, views, subqueries, functions, joins with ON, USING and NATURAL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from catalog.errors import InvalidStatement, NotSupported, StatementError
from catalog.query.binder import Binder, BoundQuery
from catalog.query.build import Bound, binary, call
from catalog.query.names import Resolved, fold, parts_of, position, unknown_relation
from catalog.query.scope import Output, Scope, Source, settled
from catalog.query.series import bind_function
from catalog.query.types import adapt, common_of, shape_of

_DENIED = frozenset(
    {"delta", "parquet", "csv", "json", "orc", "avro", "text", "binaryfile", "iceberg", "xml"}
)


def bind_from(binder: Binder, node: exp.Select, scope: Scope, select: exp.Select) -> None:
    """Bind FROM and its joins into the scope, and set them on the Spark query."""
    from_ = node.args.get("from_")
    if from_ is None:
        return
    first, sources = bind_item(binder, from_.this, scope)
    scope.sources += sources
    select.set("from_", exp.From(this=first))
    joins = [
        *_bind_joins(binder, from_.this.args.get("joins") or [], scope),
        *_bind_joins(binder, node.args.get("joins") or [], scope),
    ]
    select.set("joins", joins)


def _bind_joins(binder: Binder, joins: list[exp.Join], scope: Scope) -> list[exp.Join]:
    return [_bind_join(binder, join, scope) for join in joins]


def bind_item(binder: Binder, node: exp.Expr, scope: Scope) -> tuple[exp.Expr, list[Source]]:
    """One FROM item: its Spark text and what it adds to the scope."""
    if isinstance(node, exp.Lateral):
        return _lateral(binder, node, scope)
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        return bind_function(binder, node.this, node.args.get("alias"), scope)
    if isinstance(node, exp.Unnest):
        return bind_function(binder, node, node.args.get("alias"), scope)
    if isinstance(node, exp.Table):
        return _table(binder, node, scope)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        return _derived(binder, node, binder.query(binder, node.this, scope.parent))
    if isinstance(node, exp.Values):
        return _derived(binder, node, binder.query(binder, node, scope.parent))
    raise binder.unsupported(node)


def _table(binder: Binder, node: exp.Table, scope: Scope) -> tuple[exp.Expr, list[Source]]:
    if node.args.get("sample") or node.args.get("pivots"):
        raise binder.unsupported(node)
    parts = parts_of(node)
    if len(parts) == 1 and parts[0] in binder.ctes:
        return _derived(binder, node, binder.ctes[parts[0]], parts[0])
    at = position(node.this)
    if len(parts) == 2 and parts[0] in _DENIED:
        raise unknown_relation(parts, at)
    found = binder.names.resolve(parts)
    if found is None:
        raise unknown_relation(parts, at)
    if found.query is not None:
        return _derived(binder, node, _view(binder, found), parts[-1])
    if found.kind == "system":
        raise NotSupported(
            "cannot join system catalog relations with user collections yet", position=at
        )
    binder.found[found.id] = found
    alias = binder.fresh("t")
    outputs = tuple(
        Output(c.name, c.type, c.name, shape_of(c.type) if c.type.name == "numeric" else None)
        for c in found.relation.columns
    )
    source = _source(node, parts[-1], alias, outputs)
    table = exp.Table(
        this=exp.to_identifier(found.id), alias=exp.TableAlias(this=exp.to_identifier(alias))
    )
    return table, [source]


def _view(binder: Binder, found: Resolved) -> BoundQuery:
    """A view's body, bound on its own: nothing around it is visible inside."""
    names, ctes = binder.names, binder.ctes
    binder.names, binder.ctes = found.names or names, {}
    try:
        body = binder.query(binder, found.query or exp.Select(), None)
    finally:
        binder.names, binder.ctes = names, ctes
    outputs = tuple(
        replace(output, name=column.name)
        for output, column in zip(body.outputs, found.relation.columns, strict=True)
    )
    return BoundQuery(body.node, outputs)


def _derived(
    binder: Binder, node: exp.Expr, bound: BoundQuery, name: str = ""
) -> tuple[exp.Expr, list[Source]]:
    alias = binder.fresh("t")
    source = _source(node, name, alias, bound.outputs)
    table_alias = exp.TableAlias(this=exp.to_identifier(alias))
    return exp.Subquery(this=bound.node.copy(), alias=table_alias), [source]


def _source(node: exp.Expr, name: str, alias: str, outputs: tuple[Output, ...]) -> Source:
    given = node.args.get("alias")
    columns = given.columns if given else []
    if len(columns) > len(outputs):
        message = (
            f'table "{name}" has {len(outputs)} columns available'
            f" but {len(columns)} columns specified"
        )
        raise StatementError(message, sqlstate="42P10", position=position(given))
    called = tuple(
        replace(output, name=fold(columns[i])) if i < len(columns) else output
        for i, output in enumerate(settled(outputs))
    )
    shown = fold(given.this) if given and given.this else name
    return Source(shown, alias, called)


def _lateral(binder: Binder, node: exp.Lateral, scope: Scope) -> tuple[exp.Expr, list[Source]]:
    inner = node.this
    alias = node.args.get("alias")
    if isinstance(inner, exp.Subquery):
        bound = binder.query(binder, inner.this, scope)
        spark = binder.fresh("t")
        source = _source(node, "", spark, bound.outputs)
        table_alias = exp.TableAlias(this=exp.to_identifier(spark))
        sub = exp.Subquery(this=bound.node.copy())
        return exp.Lateral(this=sub, alias=table_alias), [source]
    return bind_function(binder, inner, alias, scope)


def _bind_join(binder: Binder, join: exp.Join, scope: Scope) -> exp.Join:
    before = list(scope.sources)
    item, sources = bind_item(binder, join.this, scope)
    _check_names(before, sources, join)
    scope.sources += sources
    side = str(join.args.get("side") or "")
    kind = str(join.args.get("kind") or "")
    out = exp.Join(this=item, side=side or None, kind=kind or None)
    natural = str(join.args.get("method") or "") == "NATURAL"
    using = [fold(part) for part in join.args.get("using") or []]
    if natural:
        using = _shared(before, sources)
    if using:
        out.set("on", _using(join, scope, before, sources, using))
    elif join.args.get("on"):
        on = binder.bind(join.args["on"], scope)
        out.set("on", on.node)
    elif not side and kind in ("", "CROSS"):
        out.set("kind", "CROSS")
    if kind not in ("", "CROSS", "INNER", "OUTER"):
        raise binder.unsupported(join)
    return out


def _check_names(before: list[Source], sources: list[Source], join: exp.Join) -> None:
    taken = {source.alias for source in before}
    for source in sources:
        if source.alias and source.alias in taken:
            message = f'table name "{source.alias}" specified more than once'
            raise InvalidStatement(message, sqlstate="42712", position=position(join.this))


def _shared(before: list[Source], sources: list[Source]) -> list[str]:
    right = {output.name for source in sources for output in source.outputs}
    names = [output.name for source in before for output in source.outputs]
    return [name for name in dict.fromkeys(names) if name in right]


def _using(
    join: exp.Join,
    scope: Scope,
    before: list[Source],
    sources: list[Source],
    using: list[str],
) -> exp.Expr:
    left = Scope(sources=before, merged=dict(scope.merged))
    right = Scope(sources=sources)
    side = str(join.args.get("side") or "")
    tests: list[exp.Expr] = []
    merged: dict[str, Bound] = {}
    for name in using:
        column = exp.column(exp.to_identifier(name, quoted=True))
        pair = [left.column(column, "", name), right.column(column, "", name)]
        type_ = common_of(pair, "JOIN/USING", position(join))
        a, b = (adapt(bound, type_) for bound in pair)
        tests.append(binary(exp.EQ, a.node, b.node))
        if side == "FULL":
            merged[name] = Bound(call("COALESCE", a, b), type_, a.shape)
        else:
            merged[name] = b if side == "RIGHT" else a
    scope.merged = {**scope.merged, **merged}
    return exp.and_(*tests)
