"""How many rows of the views above a target change when a replacement is applied to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from catalog import reads
from catalog.maintenance.impact import impact
from catalog.query.names import fold
from catalog.reads import ItemRow, ViewRow
from catalog.reads import views as maintained
from console.fragments.definition import defined
from console.fragments.places import path_of

_VIEWS = {"view", "materialized view"}
_PLAIN = "computed when it is read"
Path = tuple[str, ...]


@dataclass(frozen=True)
class Impact:
    """One dependent; `through` names what it reads the target through; `rows` -1 unknown."""

    item: ItemRow
    path: str
    through: str
    rows: int = -1
    added: int = 0
    removed: int = 0
    changed: int = 0
    counted: bool = False
    note: str = ""


def lines(target: ViewRow) -> tuple[Impact, ...]:
    """The dependents, nearest first, with nothing counted; replacements are left out."""
    rows = {view.item.id: view.rows for view in maintained.views()}
    waiting = {one.item.id for one in maintained.replacements()}
    found = [
        item
        for item in reads.dependents(target.item.id)
        if item.kind in _VIEWS and item.id not in waiting
    ]
    above = {_path(item): item.name for item in found}
    return tuple(
        Impact(
            item,
            path_of(item),
            _through(item, _path(target.item), above),
            rows.get(item.id, -1),
            note=_PLAIN if item.kind == "view" else "",
        )
        for item in found
    )


def counted(region: str, target: ViewRow, replacement: ViewRow) -> tuple[Impact, ...]:
    """The dependents with their rows counted, all at one time. Raises HeadraceError."""
    counts = {item: numbers for item, *numbers in impact(region, replacement.item.id)}
    told = []
    for line in lines(target):
        numbers = counts.get(line.item.id)
        if numbers is None:
            told.append(line)
            continue
        added, removed, changed = numbers
        told.append(replace(line, added=added, removed=removed, changed=changed, counted=True))
    return tuple(told)


def _path(item: ItemRow) -> Path:
    return (item.database, item.schema, item.name)


def _through(item: ItemRow, target: Path, above: dict[Path, str]) -> str:
    """Names of the views between, when it does not read the target itself."""
    statement = defined(item.create_sql)
    if statement is None:
        return ""
    tables = statement.query.find_all(exp.Table)
    used = {tuple(fold(p) for p in one.parts if isinstance(p, exp.Identifier)) for one in tables}
    if target in used:
        return ""
    return ", ".join(name for path, name in above.items() if path in used)
