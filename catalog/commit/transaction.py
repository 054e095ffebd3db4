"""The only writer of definitions: one atomic commit of rows, revision and audit events."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from django.db import IntegrityError, transaction
from django.utils import timezone

from catalog import signals
from catalog.commit.writing import Writer
from catalog.errors import StaleCatalog
from catalog.models import FeatureFlag, Region
from catalog.plan.operations import (
    ApplyReplacement,
    ChangeItem,
    CreateItem,
    CreateSpace,
    DropItem,
    DropSpace,
    Operation,
    RollbackReplacement,
    SetComment,
    SetFlag,
    SetReferences,
    SetSecret,
)

_COUNTERS = (
    "revision",
    "stamp",
    "next_item",
    "next_feed",
    "next_namespace",
    "next_oid",
    "next_audit",
)


@dataclass(frozen=True)
class Committed:
    """What a commit led to."""

    revision: int
    ids: tuple[str, ...]


def commit(region: str, operations: Iterable[Operation], *, expected: int, role: str) -> Committed:
    """Write all operations or none, if the catalog is still at revision `expected`.

    Sends `signals.committed` once the database has it. Raises StaleCatalog when it has moved on.
    """
    chosen = tuple(operations)
    try:
        with transaction.atomic():
            return _commit(region, chosen, expected, role)
    except IntegrityError as error:
        message = "the catalog changed while the statement was planned"
        raise StaleCatalog(message, detail=str(error)) from error


def _commit(name: str, operations: tuple[Operation, ...], expected: int, role: str) -> Committed:
    region = Region.objects.select_for_update().get(name=name)
    if region.revision != expected:
        message = "the catalog changed while the statement was planned"
        raise StaleCatalog(message, hint="Run the statement again.")
    writer = Writer(region, role, timezone.now())
    for operation in operations:
        _write(writer, operation)
    writer.finish()
    region.revision += 1
    region.stamp = uuid.uuid4()
    region.save(update_fields=_COUNTERS)
    ids = tuple(dict.fromkeys(writer.touched))
    committed = Committed(region.revision, ids)

    def announce() -> None:
        signals.committed.send(
            sender=None, region=name, revision=committed.revision, ids=committed.ids
        )

    transaction.on_commit(announce)
    return committed


def _write(writer: Writer, operation: Operation) -> None:
    match operation:
        case CreateItem():
            writer.create_item(operation)
        case ChangeItem():
            writer.change_item(operation)
        case DropItem():
            writer.drop_item(operation.entry)
        case SetSecret():
            writer.set_secret(operation.entry, operation.secret)
        case SetReferences():
            writer.set_references(operation.entry, operation.references)
        case ApplyReplacement():
            writer.apply_replacement(operation)
        case RollbackReplacement():
            writer.rollback_replacement(operation)
        case _:
            _write_other(writer, operation)


def _write_other(
    writer: Writer, operation: SetComment | CreateSpace | DropSpace | SetFlag
) -> None:
    match operation:
        case SetComment():
            writer.set_comment(operation)
        case CreateSpace():
            writer.create_space(operation.space)
        case DropSpace():
            writer.drop_space(operation.space)
        case SetFlag():
            _set_flag(writer, operation)
        case _:
            assert_never(operation)


def _set_flag(writer: Writer, operation: SetFlag) -> None:
    rows = FeatureFlag.objects.filter(region=writer.region, name=operation.name)
    old = rows.values_list("value", flat=True).first()
    if operation.value is None:
        rows.delete()
    else:
        FeatureFlag.objects.update_or_create(
            region=writer.region, name=operation.name, defaults={"value": operation.value}
        )
    details = {"name": operation.name, "old_value": old, "new_value": operation.value}
    writer.audit("alter", "system", "", details)
