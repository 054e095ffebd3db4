"""Which built-in relations a built-in relation's own query reads."""

from __future__ import annotations

import re
from functools import lru_cache

from catalog.system.relation import SystemRelation
from catalog.system.rewrite import DUCKDB_SCHEMAS

_SCHEMAS = {"mz_catalog": "mz_catalog", "mz_internal": "mz_internal"} | {
    duckdb: schema for schema, duckdb in DUCKDB_SCHEMAS.items()
}
_NAMED = re.compile(r'\b(mz_catalog|mz_internal|pgc|infs)\."?([a-z_0-9]+)"?')


@lru_cache(maxsize=1024)
def needs_of(relation: SystemRelation) -> tuple[str, ...]:
    """Names (`schema.relation`) of the built-ins that it reads, in order of mention."""
    found = (f"{_SCHEMAS[match[1]]}.{match[2]}" for match in _NAMED.finditer(relation.query))
    return tuple(dict.fromkeys(name for name in found if name != relation.id))
