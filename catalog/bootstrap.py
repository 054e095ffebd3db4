"""A region's first rows, and a role for every user."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models import F

from catalog.models import Database, Region, Role, Schema
from catalog.names import DATABASE, SCHEMA, SYSTEM_ROLE


@transaction.atomic
def ensure_region(name: str) -> Region:
    """The region, with its default database and schema; made when missing."""
    region, made = Region.objects.get_or_create(name=name)
    if not made:
        return region
    owner = ensure_role(region, SYSTEM_ROLE, superuser=True)
    namespace, oid = _take(region)
    database = Database.objects.create(
        region=region, gid=f"u{namespace}", oid=oid, name=DATABASE, owner=owner
    )
    namespace, oid = _take(region)
    Schema.objects.create(
        database=database, gid=f"u{namespace}", oid=oid, name=SCHEMA, owner=owner
    )
    return region


@transaction.atomic
def ensure_role(region: Region | str, name: str, *, superuser: bool | None = None) -> Role:
    """The role of that name; made when missing. `superuser` None leaves an old role as it is."""
    if isinstance(region, str):
        region = Region.objects.get(name=region)
    role = Role.objects.filter(region=region, name=name).first()
    if role is None:
        number, oid = _take(region)
        return Role.objects.create(
            region=region, gid=f"u{number}", oid=oid, name=name, superuser=bool(superuser)
        )
    if superuser is not None and role.superuser != superuser:
        role.superuser = superuser
        role.save(update_fields=["superuser"])
    return role


def _take(region: Region) -> tuple[int, int]:
    """One namespace number and one oid, never handed out before."""
    Region.objects.filter(pk=region.pk).update(
        next_namespace=F("next_namespace") + 1,
        next_oid=F("next_oid") + 1,
        revision=F("revision") + 1,
        stamp=uuid.uuid4(),
    )
    row = Region.objects.get(pk=region.pk)
    return row.next_namespace - 1, row.next_oid - 1
