"""Changes of rows that can be taken back: collected, written in bulk, kept as JSON.

    set     fields of a row: before and after        insert  a new row
    delete  a row and all it held                     move    rows from one item to another
    retable one id in lists of ids for another        flag    a region's flag

Taking back goes from the last to the first and refuses where a row is no longer as it was left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from catalog import models
from catalog.models import FeatureFlag, Migration, MigrationUndo, Region, ViewVersion

Json = dict[str, Any]
_BATCH = 400
_KEPT = 500


def _model(name: str) -> type[Model]:
    found: type[Model] = getattr(models, name)
    return found


def _plain(value: Any) -> Any:
    """A field's value as JSON keeps it."""
    if value is None or isinstance(value, str | int | float | bool | list | dict):
        return value
    return DjangoJSONEncoder().default(value)


class Changes:
    """The changes of one migration; `flush` writes what is collected, in the order of calls."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.log: list[Json] = []
        self._sets: dict[tuple[str, tuple[str, ...]], dict[Any, Model]] = {}

    def set(self, row: Model, **after: Any) -> None:
        """New values for fields of a row; fields are named as columns (`item_id`)."""
        changed = {name: value for name, value in after.items() if getattr(row, name) != value}
        if not changed:
            return
        before = {name: _plain(getattr(row, name)) for name in changed}
        for name, value in changed.items():
            setattr(row, name, value)
        kept = {name: _plain(value) for name, value in changed.items()}
        name = type(row).__name__
        self.log.append(
            {"op": "set", "model": name, "pk": row.pk, "before": before, "after": kept}
        )
        self._sets.setdefault((name, tuple(sorted(changed))), {})[row.pk] = row

    def flush(self) -> None:
        """Write the values set so far."""
        for (name, fields), rows in self._sets.items():
            _write_fields(_model(name), list(rows.values()), fields)
        self._sets = {}

    def insert(self, rows: Sequence[Model]) -> None:
        """New rows."""
        self.flush()
        for model, group in _by_model(rows).items():
            model._default_manager.bulk_create(group, batch_size=_BATCH)  # noqa: SLF001
        self.log += [{"op": "insert", "model": type(r).__name__, "pk": r.pk} for r in rows]

    def delete(self, rows: Sequence[Model]) -> None:
        """Rows that go."""
        self.flush()
        for row in rows:
            fields = row._meta.concrete_fields  # noqa: SLF001
            values = {field.attname: _plain(getattr(row, field.attname)) for field in fields}
            self.log.append({"op": "delete", "model": type(row).__name__, "values": values})
        for model, group in _by_model(rows).items():
            _remove(model, [row.pk for row in group])

    def move(self, model: type[Model], field: str, pairs: Mapping[int, int]) -> None:
        """Rows whose `field` is a key of `pairs` belong to its value."""
        self.flush()
        found = model._default_manager.filter(**{f"{field}__in": list(pairs)})  # noqa: SLF001
        there = set(found.values_list(field, flat=True)) if len(pairs) <= _BATCH else set(pairs)
        for old, new in pairs.items():
            if old in there and _moved(model, field, old, new):
                step = {"op": "move", "model": model.__name__, "field": field}
                self.log.append({**step, "old": old, "new": new})

    def retable(self, ids: Mapping[str, str]) -> None:
        """Other ids in what earlier versions of views need."""
        if ids and _retable(self.region, ids):
            self.log.append({"op": "retable", "ids": dict(ids)})

    def flag(self, name: str, value: str | None) -> None:
        """A flag of the region."""
        before = _set_flag(self.region, name, value)
        if before != value:
            self.log.append({"op": "flag", "name": name, "before": before, "after": value})

    def keep(self, migration: Migration) -> None:
        """Store what takes the changes back."""
        self.flush()
        rows = [
            MigrationUndo(
                migration=migration, number=start, changes=self.log[start : start + _KEPT]
            )
            for start in range(0, len(self.log), _KEPT)
        ]
        MigrationUndo.objects.bulk_create(rows, batch_size=10)


def _moved(model: type[Model], field: str, old: int, new: int) -> int:
    rows = model._default_manager.filter(**{field: old})  # noqa: SLF001
    return rows.update(**{field: new})


def _by_model(rows: Iterable[Model]) -> dict[type[Model], list[Model]]:
    found: dict[type[Model], list[Model]] = defaultdict(list)
    for row in rows:
        found[type(row)].append(row)
    return found


def _write_fields(model: type[Model], rows: list[Model], fields: tuple[str, ...]) -> None:
    """Existing rows, by key: one statement for hundreds."""
    names = [model._meta.get_field(name.removesuffix("_id")).name for name in fields]  # noqa: SLF001
    key = model._meta.pk.name  # noqa: SLF001
    model._default_manager.bulk_create(  # noqa: SLF001
        rows, batch_size=_BATCH, update_conflicts=True, unique_fields=[key], update_fields=names
    )


def _remove(model: type[Model], keys: list[Any]) -> None:
    for start in range(0, len(keys), _BATCH):
        model._default_manager.filter(pk__in=keys[start : start + _BATCH]).delete()  # noqa: SLF001


def _retable(region: Region, ids: Mapping[str, str]) -> int:
    changed = []
    for row in ViewVersion.objects.filter(item__region=region):
        needs = [ids.get(item, item) for item in row.needs]
        if needs != row.needs:
            row.needs = needs
            changed.append(row)
    ViewVersion.objects.bulk_update(changed, ["needs"], batch_size=_BATCH)
    return len(changed)


def _set_flag(region: Region, name: str, value: str | None) -> str | None:
    rows = FeatureFlag.objects.filter(region=region, name=name)
    before = rows.values_list("value", flat=True).first()
    if value is None:
        rows.delete()
    elif value != before:
        FeatureFlag.objects.update_or_create(region=region, name=name, defaults={"value": value})
    return before


def undo(region: Region, log: Sequence[Json], at: Callable[[str], None]) -> None:
    """Take changes back, the last first; `at` is told before each group of equal ones."""
    for group in _grouped(log):
        at(f"undo {group[0]['op']} {group[0].get('model', '')}".strip())
        _UNDO[group[0]["op"]](region, group)


def _grouped(log: Sequence[Json]) -> list[list[Json]]:
    """Neighbours of the same kind together, in the order of taking back."""
    groups: list[list[Json]] = []
    for change in reversed(log):
        same = groups and all(groups[-1][0].get(k) == change.get(k) for k in ("op", "model"))
        if same and set(groups[-1][0].get("before", ())) == set(change.get("before", ())):
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def changed_since(log: Sequence[Json]) -> list[tuple[str, Any]]:
    """Rows, by model and key, that no longer have the values that the changes gave them."""
    after: dict[tuple[str, Any], Json] = defaultdict(dict)
    keys: dict[str, list[Any]] = defaultdict(list)
    for change in log:
        if change["op"] == "set":
            after[(change["model"], change["pk"])].update(change["after"])
            keys[change["model"]].append(change["pk"])
    found: list[tuple[str, Any]] = []
    for name, wanted in keys.items():
        rows = _in_bulk(_model(name), wanted)
        found += [(name, key) for key in wanted if not _has(rows.get(key), after[(name, key)])]
    return found


def _has(row: Model | None, values: Json) -> bool:
    return row is not None and all(_plain(getattr(row, f)) == v for f, v in values.items())


def _in_bulk(model: type[Model], keys: Sequence[Any]) -> dict[Any, Model]:
    rows: dict[Any, Model] = {}
    for start in range(0, len(keys), _BATCH):
        rows.update(model._default_manager.in_bulk(keys[start : start + _BATCH]))  # noqa: SLF001
    return rows


def _undo_set(region: Region, group: list[Json]) -> None:
    model = _model(group[0]["model"])
    rows = _in_bulk(model, [change["pk"] for change in group])
    for change in group:
        for name, value in change["before"].items():
            setattr(rows[change["pk"]], name, value)
    _write_fields(model, list(rows.values()), tuple(sorted(group[0]["before"])))


def _undo_insert(region: Region, group: list[Json]) -> None:
    _remove(_model(group[0]["model"]), [change["pk"] for change in group])


def _undo_delete(region: Region, group: list[Json]) -> None:
    model = _model(group[0]["model"])
    fields = {field.attname: field for field in model._meta.concrete_fields}  # noqa: SLF001
    rows = [
        model(**{name: fields[name].to_python(value) for name, value in change["values"].items()})
        for change in reversed(group)
    ]
    model._default_manager.bulk_create(rows, batch_size=_BATCH)  # noqa: SLF001


def _undo_move(region: Region, group: list[Json]) -> None:
    for change in group:
        _moved(_model(change["model"]), change["field"], change["new"], change["old"])


def _undo_retable(region: Region, group: list[Json]) -> None:
    for change in group:
        _retable(region, {new: old for old, new in change["ids"].items()})


def _undo_flag(region: Region, group: list[Json]) -> None:
    for change in group:
        _set_flag(region, change["name"], change["before"])


_UNDO: dict[str, Callable[[Region, list[Json]], None]] = {
    "set": _undo_set,
    "insert": _undo_insert,
    "delete": _undo_delete,
    "move": _undo_move,
    "retable": _undo_retable,
    "flag": _undo_flag,
}
