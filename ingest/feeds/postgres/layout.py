"""From a relation's cells, as the stream has them, to a log row's arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.contract.commands import Export, ExportColumn
from ingest.feeds.postgres.decoder import Cells, Relation, RelationColumn


@dataclass(frozen=True)
class Layout:
    """For one relation: `places` gives each cell its index in the log's array, -1 to leave it out;
    `key` are the cells of the key, in key order; `straight` says that all are in place already.
    """

    oid: int
    width: int
    places: tuple[int, ...]
    key: tuple[int, ...]
    straight: bool

    def spread(self, cells: Cells) -> Cells:
        """The log's array of a whole row."""
        if self.straight:
            return cells
        row: Cells = [None] * self.width
        for place, cell in zip(self.places, cells, strict=True):
            if place >= 0:
                row[place] = cell
        return row

    def key_of(self, cells: Cells) -> Cells | None:
        """The text of the key columns; None without a key."""
        return [cells[index] for index in self.key] or None

    def complete(self, new: Cells, old: Cells, left_out: Sequence[int]) -> list[int]:
        """Put values of the key that upstream left out of `new` back in from `old`, which has the
        whole key; which cells are still left out."""
        for index in self.key:
            if index in left_out:
                new[index] = old[index]
        return [index for index in left_out if index not in self.key]

    def positions(self, indices: Iterable[int]) -> list[int]:
        """Upstream positions (1-based) of cells that some table needs."""
        return [self.places[index] + 1 for index in indices if self.places[index] >= 0]


def layout(relation: Relation, exports: Iterable[Export]) -> Layout:
    """How rows of `relation` are logged for all of `exports`, which share it."""
    position: dict[str, int] = {}
    key: list[str] = []
    for export in exports:
        position |= {column.upstream_name: column.upstream_position for column in export.columns}
        names = key_names(export)
        key = names if len(names) > len(key) else key
    index = {column.name: at for at, column in enumerate(relation.columns)}
    places = tuple(position.get(column.name, 0) - 1 for column in relation.columns)
    return Layout(
        relation.oid,
        max(position.values(), default=0),
        places,
        tuple(index[name] for name in key if name in index),
        places == tuple(range(len(places))),
    )


def key_names(export: Export) -> list[str]:
    """Upstream names of the table's key columns, in key order."""
    names = {column.name: column.upstream_name for column in export.columns}
    return [names.get(name, name) for name in export.key]


def incompatible(relation: Relation, export: Export) -> str | None:
    """Why rows of `relation` cannot fill `export` any more, or None."""
    columns = {column.name: column for column in relation.columns}
    for wanted in export.columns:
        found = columns.get(wanted.upstream_name)
        if found is None:
            return f'column "{wanted.upstream_name}" was dropped or renamed'
        if _retyped(found, wanted):
            return f'the type of column "{wanted.upstream_name}" was changed'
    if export.key and relation.identity in "di":
        flagged = {column.name for column in relation.columns if column.key}
        if flagged != set(key_names(export)):
            return "the primary key was changed"
    return None


def _retyped(found: RelationColumn, wanted: ExportColumn) -> bool:
    if wanted.as_text:
        return False
    if found.type_oid != wanted.upstream_oid:
        return True
    return found.modifier != wanted.upstream_modifier and wanted.type.spark != "string"
