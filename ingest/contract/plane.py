"""Where the data plane is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plane:
    """A Spark Connect endpoint and the warehouse it keeps its Delta tables under.

    `remote` is an `sc://host:port` address; `warehouse` a path or URI that Spark can write.
    """

    remote: str
    warehouse: str
