"""CREATE SOURCE, ALTER SOURCE .. REFRESH REFERENCES."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.names import Name, Option


@dataclass(frozen=True)
class CreateSource:
    """`CREATE SOURCE [IF NOT EXISTS] name [IN CLUSTER c] FROM kind ..`.

    `kind` is `postgres` or `load generator`; for the latter `generator` is `auction`, `counter`,
    `tpch` or `key value`. Seed 000: it makes no table by itself.
    """

    name: Name
    kind: str
    options: tuple[Option, ...] = ()
    connection: Name | None = None
    generator: str = ""
    cluster: Name | None = None
    if_not_exists: bool = False
    with_options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class RefreshReferences:
    """`ALTER SOURCE [IF EXISTS] name REFRESH REFERENCES`."""

    name: Name
    if_exists: bool = False
