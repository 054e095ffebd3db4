"""Views of groups with hidden aggregates beside their own columns: which have them, and how."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from ingest import delta
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.contract.views import Block, View
from ingest.tables import schema, view_hidden
from ingest.tables.view_versions import Hidden, Known
from ingest.views import whole
from ingest.views.incremental_folds import exact_enough


def planned(plane: Plane, live: SparkSession, view: View, time: int) -> Hidden | None:
    """The hidden columns that a view should be hydrated with at `time` (ms); None for none.

    There are none where a group's key would not be stored as it is, and where the place for the
    steps was made without them.
    """
    partial = view.root.partial
    if partial is None:
        return None
    made = whole.block(live, root(view.root), whole.inputs(plane, live, view, time))
    kinds, relation = made.schema, view.relation
    places = tuple(view.root.columns.index(name) for name in view.root.output_key)
    own = StructType(schema.empty(live, relation).schema.fields)
    if not all(exact_enough(own[n].dataType, kinds[n].dataType) for n in places):
        return None
    fields = kinds.fields[len(relation.columns) :]
    types = [schema.type_of(field.dataType) for field in fields]
    if [kind.spark for kind in types] != [field.dataType.simpleString() for field in fields]:
        return None
    names = _names(relation, len(fields))
    found = Hidden(names, tuple(kind.sql for kind in types), partial.meanings, places)
    return found if _fits(plane, live, view, found) else None


def _fits(plane: Plane, live: SparkSession, view: View, hidden: Hidden) -> bool:
    """Whether the place for the steps, if it is there already, has them."""
    path = delta.changes_path(plane, view.shard)
    if delta.latest(path) < 0:
        return True
    there = live.read.format("delta").load(path).columns
    return f"c{len(view.relation.columns) + len(hidden.names) - 1}" in there


def _names(relation: Relation, wanted: int) -> tuple[str, ...]:
    """Names that no column of the relation has."""
    taken = {name.lower() for name in relation.names}
    names = (name for n in count(1) if (name := f"mz_partial_{n}") not in taken)
    return tuple(next(names) for _ in range(wanted))


def hidden_of(view: View, known: Known) -> Hidden | None:
    """The shard's hidden columns, when they are those that the view's root follows from."""
    found, partial = known.hidden, view.root.partial
    if found is None or partial is None or found.meanings != partial.meanings:
        return None
    return found if known.columns == len(view.relation.columns) else None


def widened(view: View, hidden: Hidden | None) -> View:
    """The view with hidden columns behind its own; as it is without them."""
    if hidden is None:
        return view
    relation = view_hidden.wide(view.relation, hidden)
    return replace(view, relation=relation, root=root(view.root))


def root(block: Block) -> Block:
    """The root of a view with hidden columns behind its own; as it is when it has none."""
    partial = block.partial
    if partial is None:
        return block
    return replace(
        block,
        sql=partial.sql,
        restricted=partial.restricted,
        folds=partial.folds,
        finish=partial.finish,
        copied=partial.copied,
        columns=(*block.columns, *partial.columns),
        partial=None,
    )
