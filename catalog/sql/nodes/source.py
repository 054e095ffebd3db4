"""CREATE SOURCE, ALTER SOURCE .. REFRESH REFERENCES."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.legacy import Exports
from catalog.sql.nodes.names import Name, Option


@dataclass(frozen=True)
class CreateSource:
    """`CREATE SOURCE [IF NOT EXISTS] name [IN CLUSTER c] FROM kind ..`.

    `kind` is `postgres` or `load generator`; for the latter `generator` is `auction`, `counter`,
    `tpch` or `key value`. Seed 000: it makes no table by itself. In the older form it does:
    `exports` says which, `progress` names the subsource that shows how far it is, and TEXT COLUMNS
    and EXCLUDE COLUMNS stand among the options.
    """

    name: Name
    kind: str
    options: tuple[Option, ...] = ()
    connection: Name | None = None
    generator: str = ""
    cluster: Name | None = None
    if_not_exists: bool = False
    with_options: tuple[Option, ...] = ()
    exports: Exports | None = None
    progress: Name | None = None


@dataclass(frozen=True)
class RefreshReferences:
    """`ALTER SOURCE [IF EXISTS] name REFRESH REFERENCES`."""

    name: Name
    if_exists: bool = False
