"""What a step of a view knows in this process, so that Spark need not be asked for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from ingest.contract.views import Block, Part

_MOST = 2_000


@dataclass(frozen=True)
class Near:
    """`rows` gives the stored rows of some keys, which are in the key's order; None when only
    Spark can tell. `sent` are the inputs' changes that came through this process, by input, under
    their columns' names. What is made of the same `view` has the same columns at each step.
    `keys`: those that a step touches, and maybe others; None when Spark is to find them."""

    rows: Callable[[pa.Table], DataFrame | None]
    sent: Mapping[str, pa.Table]
    view: Hashable
    keys: pa.Table | None = None

    def of(self, block: Block, parts: Sequence[Part]) -> Near:
        """The same with the keys that changes of the `parts` touch, when they are known."""
        found = [self._copied(block, part) for part in parts]
        known = [keys for keys in found if keys is not None]
        if not known or len(known) < len(found):
            return self
        return replace(self, keys=pa.concat_tables(known))

    def _copied(self, block: Block, part: Part) -> pa.Table | None:
        child = block.children[part.child]
        sent = self.sent.get(child) if isinstance(child, str) else None
        if sent is None or not part.copied:
            return None
        return pa.table([sent[name] for name in part.copied], names=list(block.key))

    def schema(self, what: str, frame: DataFrame) -> StructType:
        """The columns of `frame`, which is `what` at each step of the view: Spark says it once."""
        place = (self.view, what)
        with _lock:
            found = _schemas.get(place)
        if found is None:
            found = frame.schema
            with _lock:
                _schemas[place] = found
                while len(_schemas) > _MOST:
                    _schemas.popitem(last=False)
        return found


_schemas: OrderedDict[Hashable, StructType] = OrderedDict()
_lock = threading.Lock()
