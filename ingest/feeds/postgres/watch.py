"""What happens upstream beside the stream: the slot, the publication, dropped tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from ingest.contract.commands import Export
from ingest.errors import Terminal
from ingest.feeds.postgres.slot import Slot, find, usable

Session = psycopg.Connection[tuple[Any, ...]]
_TABLES = sql.SQL("""
    select wanted.oid, c.oid is not null, p.relid is not null, r.oid,
        (select coalesce(array_agg(a.attnum::int), '{{}}') from pg_attribute a
            where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
    from unnest({oids}::oid[]) wanted(oid)
    left join pg_class c on c.oid = wanted.oid
    left join pg_get_publication_tables({publication}) p on p.relid = c.oid
    left join (pg_publication_rel r join pg_publication b on b.oid = r.prpubid
        and b.pubname = {publication}) on r.prrelid = c.oid
""")
_PUBLICATION = sql.SQL("select 1 from pg_publication where pubname = %s")
_OLDEST = sql.SQL("""
    select pid, application_name, usename, extract(epoch from now() - xact_start)::bigint
    from pg_stat_activity
    where xact_start is not null and backend_xid is not null and pid <> pg_backend_pid()
    order by xact_start limit 1
""")


class Watch:
    """Looks at one feed's upstream over an ordinary session; every method raises psycopg's
    errors when that is cut."""

    def __init__(self, session: Session, slot: str, publication: str) -> None:
        self._session = session
        self._slot = slot
        self._publication = publication
        self._memberships: dict[int, int | None] = {}

    def slot(self) -> Slot:
        """The slot; raises Terminal when it is gone or invalid."""
        return usable(find(self._session, self._slot), self._slot, 0)

    def lost(self, exports: Sequence[Export]) -> list[tuple[Export, Terminal]]:
        """The tables that cannot go on, and why: dropped, or no longer published."""
        if not exports:
            return []
        oids = sorted({export.reference for export in exports})
        query = _TABLES.format(oids=oids, publication=sql.Literal(self._publication))
        rows = {row[0]: row[1:] for row in self._session.execute(query)}
        found = []
        for export in exports:
            error = self._judge(export, *rows[export.reference])
            if error is not None:
                found.append((export, error))
        return found

    def oldest_transaction(self) -> str:
        """Which transaction upstream a new snapshot waits for; empty when there is none."""
        row = self._session.execute(_OLDEST).fetchone()
        if row is None:
            return ""
        name = f" ({row[1]})" if row[1] else ""
        return (
            f"waiting for a transaction that process {row[0]}{name} of user {row[2]} "
            f"began {row[3]} s ago"
        )

    def _judge(
        self,
        export: Export,
        exists: object,
        published: object,
        member: int | None,
        alive: list[int],
    ) -> Terminal | None:
        known = self._memberships.setdefault(export.reference, member)
        name = f"{export.namespace}.{export.name}"
        if not exists:
            return Terminal(
                f"table {name} was dropped upstream",
                hint="Drop the table here, or create one on the table that took its place.",
            )
        if not published:
            return self._unpublished(name)
        if known is not None and member != known:
            return Terminal(
                f"table {name} was taken out of the publication for a while",
                detail="The changes of that time are lost.",
                hint="Create a new table on the same reference, and drop this one.",
            )
        dropped = [c for c in export.columns if c.upstream_position not in alive]
        if dropped:
            return incompatible_change(f'column "{dropped[0].upstream_name}" was dropped')
        return None

    def _unpublished(self, name: str) -> Terminal:
        if self._session.execute(_PUBLICATION, (self._publication,)).fetchone() is None:
            return Terminal(
                f'publication "{self._publication}" was dropped upstream',
                hint="Create it again upstream, then create new tables from the source.",
            )
        return Terminal(
            f'table {name} was removed from publication "{self._publication}"',
            hint="Add it again upstream, then create a new table on it and drop this one.",
        )


def incompatible_change(reason: str) -> Terminal:
    """The failure of a table whose upstream no longer fits it."""
    return Terminal(
        f"incompatible schema change: {reason}",
        hint="Create a new table on the same reference, swap it in, and drop this one.",
    )
