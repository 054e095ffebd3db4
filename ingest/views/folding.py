"""Folding a view's steps into its base, so that reads stay cheap; old versions stay a while."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.contract.plane import Plane
from ingest.contract.relation import Relation


def fold(plane: Plane, shard: str, relation: Relation, key: Sequence[str] = ()) -> bool:
    """See `ingest.engine.fold_view`."""
    return False
