"""The publications of a database, for choosing one without typing."""

from __future__ import annotations

import psycopg
from psycopg import sql

from ingest.contract.upstream import PostgresTarget, Publication
from ingest.feeds.postgres import faults
from ingest.feeds.postgres.connect import connect

_PUBLICATIONS = sql.SQL("""
    select pubname, puballtables,
        (select count(*) from pg_get_publication_tables(pubname))::int
    from pg_publication order by puballtables desc, pubname limit 200
""")


def list_publications(target: PostgresTarget) -> tuple[Publication, ...]:
    """All publications, those for all tables first. Raises Transient and Terminal."""
    with connect(target) as session:
        try:
            return tuple(Publication(*row) for row in session.execute(_PUBLICATIONS))
        except psycopg.Error as error:
            raise faults.running(error) from None
