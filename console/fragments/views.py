"""The live views: parameters in, fragments out. Pages draw them first, the websocket again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.utils import timezone

from catalog import reads
from catalog.reads import AuditRow, SourceRow, TableRow
from console.fragments import maintained, migrating, progress, switching
from console.fragments.attention import Attention, of_catalog
from console.fragments.model import Fragment, Group, View
from console.fragments.paging import PAGE as PAGE
from console.fragments.paging import Gone as Gone
from console.fragments.paging import Page as Page
from console.fragments.paging import Parameters as Parameters
from console.fragments.paging import cut


def overview(parameters: Parameters) -> View:
    """What is live, how fresh it is, and what needs a person."""
    now = timezone.now()
    sources, tables = reads.sources(), reads.tables()
    lags = [progress.lag(source.feed, now) for source in sources if source.feed]
    kept, pending = maintained.known()
    attention = of_catalog(sources, tables, (*kept, *pending))
    tiles = {
        "sources": len(sources),
        "sources_running": sum(source.status.status == "running" for source in sources),
        "tables": len(tables),
        "tables_live": sum(progress.state(table) == "running" for table in tables),
        "views": len(kept),
        "views_kept": sum(row.hydrated and not row.status.error for row in kept),
        "replacements": len(pending),
        "rows": sum(max(0, table.rows_staged) for table in tables),
        "changes": sum(table.updates_committed for table in tables),
        "lag": max(lags, default=-1),
        "attention": len(attention),
    }
    return {
        "tiles": Fragment("tiles", "overview/tiles.html", tiles),
        "attention": Group(
            "attention",
            tuple(_attention(number, item) for number, item in enumerate(attention)),
            Fragment("attention-none", "overview/calm.html"),
        ),
        "sources": _source_rows(sources),
    }


def _attention(number: int, item: Attention) -> Fragment:
    return Fragment(f"attention-{number}", "overview/attention.html", {"item": item})


def _source_rows(sources: Sequence[SourceRow]) -> Group:
    now = timezone.now()
    tables = _by_source(reads.tables()) if sources else {}
    return Group(
        "source-rows",
        tuple(_source_row(row, tables.get(row.item.id, ()), now) for row in sources),
    )


def _source_row(source: SourceRow, tables: Sequence[TableRow], now: object) -> Fragment:
    whole = progress.of_source(tables, timezone.now())
    return Fragment(
        f"source-{source.item.id}",
        "sources/row.html",
        {
            "item": source.item,
            "type": source.type,
            "connection": source.connection,
            "error": source.status.error,
            "status": progress.shown_status(source, tables),
            "tables": whole.tables,
            "done": whole.done,
            "failed": whole.failed,
            "percent": whole.percent,
            "finished": whole.finished,
            "lag": progress.lag(source.feed, timezone.now()),
            "retained": source.feed.retained_bytes if source.feed else -1,
        },
    )


def _by_source(tables: Sequence[TableRow]) -> dict[str, list[TableRow]]:
    found: dict[str, list[TableRow]] = {}
    for table in tables:
        if table.source is not None:
            found.setdefault(table.source.id, []).append(table)
    return found


def sources(parameters: Parameters) -> View:
    """All sources."""
    return {"rows": _source_rows(reads.sources())}


def source(parameters: Parameters) -> View:
    """One source: status, feed, progress and its tables."""
    row = reads.source(parameters.get("id", ""))
    if row is None:
        raise Gone
    now = timezone.now()
    tables = reads.tables(source_id=row.item.id)
    whole = progress.of_source(tables, now)
    feed = {
        "feed": row.feed,
        "lag": progress.lag(row.feed, now),
        "behind": progress.behind(row.feed),
        "type": row.type,
        "publication": row.publication,
        "rows": whole.rows,
    }
    status = {"status": row.status, "word": progress.shown_status(row, tables), "item": row.item}
    shown, page = cut(tables, parameters)
    return {
        "status": Fragment("source-status", "parts/status.html", status),
        "trouble": Fragment("source-trouble", "parts/trouble.html", {"status": row.status}),
        "progress": Fragment("source-progress", "sources/progress.html", {"p": whole, **status}),
        "feed": Fragment("source-feed", "sources/feed.html", feed),
        "count": Fragment("source-count", "sources/count.html", {"p": whole, "page": page}),
        "tables": Group("table-rows", tuple(_export_row(table) for table in shown)),
    }


def _export_row(table: TableRow) -> Fragment:
    data = {"table": table, "state": progress.state(table), "percent": progress.percent(table)}
    return Fragment(f"table-{table.item.id}", "sources/table_row.html", data)


def tables(parameters: Parameters) -> View:
    """Tables, searched (`q`), of one source (`source`), a page at a time."""
    found = reads.tables(
        source_id=parameters.get("source") or None, search=parameters.get("q") or None
    )
    shown, page = cut(found, parameters)
    rows = tuple(
        Fragment(
            f"table-{table.item.id}",
            "tables/row.html",
            {"table": table, "state": progress.state(table), "percent": progress.percent(table)},
        )
        for table in shown
    )
    empty = Fragment("tables-none", "tables/none.html", {"q": parameters.get("q", "")})
    return {
        "rows": Group("table-rows", rows, empty),
        "count": Fragment("tables-count", "tables/count.html", {"page": page}),
    }


def table(parameters: Parameters) -> View:
    """One table's status, statistics and trouble."""
    row = reads.table(parameters.get("id", ""))
    if row is None:
        raise Gone
    upstream = reads.source(row.source.id) if row.source else None
    feed = upstream.feed if upstream else None
    status = {"status": row.status, "word": progress.state(row), "item": row.item}
    numbers = {
        "table": row,
        "state": progress.state(row),
        "percent": progress.percent(row),
        "lag": progress.lag(feed, timezone.now()),
    }
    return {
        "status": Fragment("table-status", "parts/status.html", status),
        "trouble": Fragment("table-trouble", "parts/trouble.html", {"status": row.status}),
        "numbers": Fragment("table-numbers", "tables/numbers.html", numbers),
    }


def audit(parameters: Parameters) -> View:
    """The newest audit events, or those before an id (`before`), of one object (`object`)."""
    before = parameters.get("before", "")
    rows = reads.audit(
        limit=PAGE,
        before=int(before) if before.isdigit() else None,
        object_id=_object_id(parameters.get("object", "")),
    )
    return {"rows": Group("audit-rows", tuple(map(audit_row, rows)))}


def _object_id(wanted: str) -> str | None:
    """The id of the item of that name; a text that names none is taken for an id."""
    return next((item.id for item in reads.items() if item.name == wanted), wanted) or None


def audit_row(row: AuditRow) -> Fragment:
    """One event."""
    return Fragment(f"audit-{row.id}", "audit/row.html", {"row": row})


VIEWS: dict[str, Callable[[Parameters], View]] = {
    "overview": overview,
    "sources": sources,
    "source": source,
    "tables": tables,
    "table": table,
    "audit": audit,
    "views": maintained.views,
    "materialized-view": maintained.view,
    "replacement": maintained.replacement,
    "migrations": migrating.migrations,
    "migration": migrating.migration,
    "rollout": migrating.rollout,
    "schema-change": switching.change,
}
FOR_OWNERS = frozenset({"migrations", "migration", "rollout", "schema-change"})
"""Views that only account owners may see."""
