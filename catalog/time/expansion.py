"""Maintained views that a query computes from their definitions, instead of reading their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.models import ViewVersion
from catalog.plan.definitions import view_query
from catalog.plan.picture import Entry
from catalog.query.names import Names, Resolved
from ingest.contract.relation import Relation


@dataclass(frozen=True)
class Expanding:
    """Names as `inner` resolves them, but the maintained views in `queries` are plain views."""

    inner: Names
    queries: Mapping[str, exp.Query]

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """The readable item that the parts stand for, or None."""
        found = self.inner.resolve(parts)
        if found is None:
            return None
        query = self.queries.get(found.id)
        if query is not None:
            return replace(found, kind="view", query=query, names=self)
        return found if found.query is None else replace(found, names=self)


def definition_at(entry: Entry, time: int) -> exp.Query:
    """The query that a maintained view stood for at `time` (ms), with the columns it has now.

    What it was before its first definition is what that would have given.
    """
    rows = ViewVersion.objects.filter(item__gid=entry.id, item__oid=entry.oid)
    versions = list(rows.order_by("number").values_list("until", "create_sql", "columns"))
    for until, create_sql, columns in versions:
        if until > time:
            return _shaped(view_query(create_sql), len(columns), entry.relation)
    return view_query(entry.create_sql)


def needs_at(entry: Entry, time: int) -> tuple[str, ...]:
    """Ids of what a maintained view's definition at `time` (ms) names."""
    target = (entry.view.target,)
    segments = entry.view.segments
    if not segments or segments[-1].since <= time:
        return tuple(item for item in entry.needs if item not in target)
    rows = ViewVersion.objects.filter(item__gid=entry.id, item__oid=entry.oid, until__gt=time)
    found = rows.order_by("number").values_list("needs", flat=True).first()
    return entry.needs if found is None else tuple(found)


def _shaped(query: exp.Query, width: int, relation: Relation) -> exp.Query:
    """The query of `width` columns with those of `relation`: nulls for the ones that came later,
    and without the ones that an undo took away again. Both are at the end."""
    if width == len(relation.columns):
        return query
    there, later = relation.names[:width], relation.columns[width:]
    names = [exp.to_identifier(name, quoted=True) for name in there]
    alias = exp.TableAlias(this=exp.to_identifier("was"), columns=names)
    nulls = [
        exp.alias_(
            exp.cast(exp.Null(), exp.DataType.build(column.type.sql, dialect="postgres")),
            column.name,
            quoted=True,
        )
        for column in later
    ]
    kept = [exp.column(name.copy(), table="was") for name in names]
    return exp.select(*kept, *nulls).from_(exp.Subquery(this=query.copy(), alias=alias))
