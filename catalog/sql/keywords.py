"""Words with a meaning of their own."""

from __future__ import annotations

# Words that cannot be a bare name.
_RESERVED_WORDS = """
    all and any as asc between by case check collate create cross default desc distinct else end
    except exists false for from full group having in inner intersect into is isnull join lateral
    left like limit natural not null offset on options or order outer qualify references returning
    right select some table then true union using values when where with
"""
RESERVED = frozenset(_RESERVED_WORDS.split())

# Words that messages print as keywords, not as identifiers.
_STATEMENT_WORDS = """
    abort add alter apply at begin body cascade cluster columns comment commit connection copy
    database debezium delete discard drop envelope exclude explain format generator grant if ignore
    index insert kafka key least load local materialized mysql object of owner password postgres
    primary progress publication redacted reference refresh rename replacement reset restrict
    revoke rollback role schema schemas secret session set show sink snapshot source sources start
    subscribe subsource system tables tail temp temporary text timestamp to topic transaction type
    up update upsert validate view views webhook within
"""
KEYWORDS = RESERVED | frozenset(_STATEMENT_WORDS.split())

_QUERY_ONLY_WORDS = "over partition recursive nulls first last filter fetch only ilike"

# Words of a query that the canonical text prints in upper case.
QUERY_WORDS = RESERVED - {"options", "check"} | frozenset(_QUERY_ONLY_WORDS.split())
