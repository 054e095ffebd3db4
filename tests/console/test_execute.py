"""What a user is told when the catalog's database does not answer."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import pytest
from django.db import connection

from console.execute import open_session
from ingest.errors import HeadraceError


@dataclass(frozen=True)
class _Owner:
    email: str = "owner@example.test"
    is_superuser: bool = True


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_locked_is_no_fault_of_the_statement() -> None:
    session = open_session(_Owner())
    list(session.execute("CREATE SCHEMA before"))
    connection.cursor().execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), uri=True)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(HeadraceError) as caught:
            list(session.execute("CREATE SCHEMA busy"))
        assert (caught.value.sqlstate, caught.value.hint) == ("57P03", "Try again.")
        assert caught.value.message == "the catalog cannot be asked for now"
    finally:
        other.rollback()
        other.close()
    connection.close()
    list(session.execute("CREATE SCHEMA busy"))
