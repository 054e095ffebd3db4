"""The feed's replication slot: made once, watched, freed of zombies, dropped with the feed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from ingest.contract.upstream import PostgresTarget
from ingest.errors import Terminal, Transient
from ingest.feeds.postgres import faults
from ingest.feeds.postgres.connect import connect
from ingest.feeds.postgres.stream import lsn_number

Session = psycopg.Connection[tuple[Any, ...]]
_FIND = sql.SQL("""
    select confirmed_flush_lsn::text, active_pid, coalesce(to_jsonb(s) ->> 'wal_status', ''),
        pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint, plugin, database
    from pg_replication_slots s where slot_name = %s
""")
_CREATE = sql.SQL("select lsn::text from pg_create_logical_replication_slot(%s, 'pgoutput')")
_OURS = sql.SQL("""
    select pg_terminate_backend(pid) from pg_stat_activity
    where pid = %s and usename = current_user and application_name = 'headrace'
""")
_DROP = sql.SQL("select pg_drop_replication_slot(%s)")


@dataclass(frozen=True)
class Slot:
    """A slot as upstream has it; `confirmed` is the position acknowledged to it."""

    name: str
    confirmed: int
    active_pid: int | None
    wal_status: str
    retained_bytes: int


def find(session: Session, name: str) -> Slot | None:
    """The slot, or None when there is none of that name; raises psycopg's errors."""
    row = session.execute(_FIND, (name,)).fetchone()
    if row is None:
        return None
    return Slot(
        name, lsn_number(row[0] or "0/0"), row[1], row[2], -1 if row[3] is None else row[3]
    )


def create(session: Session, name: str) -> Slot:
    """Make the slot; waits for the transactions that run upstream now."""
    row = session.execute(_CREATE, (name,)).fetchone()
    if row is None:
        raise AssertionError
    return Slot(name, lsn_number(row[0]), None, "reserved", 0)


def usable(slot: Slot | None, name: str, reached: int) -> Slot:
    """The slot, if a stream can go on from the log's position `reached`.

    Raises Terminal when it is gone, invalid or ahead of the log: changes are lost for good.
    """
    if slot is None:
        raise _lost(name, "gone", "Somebody dropped it; the changes since then are lost.")
    if slot.wal_status == "lost":
        cause = "Upstream removed WAL that the slot still needed (max_slot_wal_keep_size)."
        raise _lost(name, "invalid", cause)
    if reached and slot.confirmed > reached:
        cause = "Somebody advanced it, or made it anew; the changes between are lost."
        raise _lost(name, "ahead of the log", cause)
    return slot


def _lost(name: str, state: str, cause: str) -> Terminal:
    return Terminal(
        f'replication slot "{name}" is {state}',
        detail=cause,
        hint="Create new tables from the source in place of the old ones; drop the source "
        "when none is left, and its slot goes with it.",
        sqlstate="42704" if state == "gone" else "55000",
    )


def free(session: Session, slot: Slot, seconds: float = 10) -> None:
    """End a former reader of ours that still holds the slot.

    Raises Transient when somebody holds it who is not ours.
    """
    deadline = time.monotonic() + seconds
    while slot.active_pid is not None:
        if time.monotonic() > deadline:
            message = f'replication slot "{slot.name}" is in use by process {slot.active_pid}'
            raise Transient(
                message,
                hint="End that session upstream; it is tried again.",
                sqlstate="55006",
            )
        session.execute(_OURS, (slot.active_pid,))
        time.sleep(0.1)
        slot = find(session, slot.name) or slot


def drop(target: PostgresTarget, name: str) -> None:
    """Drop the slot and end its reader; what is gone already is fine.

    Raises Transient or Terminal when the upstream cannot be asked.
    """
    session = connect(target)
    try:
        found = find(session, name)
        if found is not None:
            free(session, found)
            session.execute(_DROP, (name,))
    except psycopg.errors.UndefinedObject:
        return
    except psycopg.Error as error:
        raise faults.running(error) from None
    finally:
        session.close()
