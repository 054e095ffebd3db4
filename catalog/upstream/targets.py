"""Connections as the data plane takes them: options resolved, secrets decrypted, host checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from catalog.keys import decrypt, encrypt
from catalog.models import SecretValue
from catalog.plan.picture import ConnectionFacts, SourceFacts
from catalog.upstream.hosts import admitted
from ingest.contract.commands import Generator
from ingest.contract.upstream import PostgresTarget, Secret


def postgres_target(
    region: str, facts: ConnectionFacts, pending: Mapping[str, str] | None = None
) -> PostgresTarget:
    """The target of a PostgreSQL connection; `pending` are secrets of the open transaction.

    Raises PermissionDenied for a host that may not be reached, Terminal for a lost key.
    """
    return admitted(unchecked_target(region, facts, pending))


def unchecked_target(
    region: str, facts: ConnectionFacts, pending: Mapping[str, str] | None = None
) -> PostgresTarget:
    """The target with its secrets, its host not looked at yet."""
    options = facts.options
    password = _text(region, options.get("password"), pending)
    key = _text(region, options.get("ssl_key"), pending)
    return PostgresTarget(
        host=options["host"],
        port=options["port"],
        database=options["database"],
        user=options["user"],
        password=None if password is None else Secret(password),
        ssl_mode=options.get("ssl_mode", "prefer"),
        ssl_root_certificate=_text(region, options.get("ssl_root_certificate"), pending),
        ssl_certificate=_text(region, options.get("ssl_certificate"), pending),
        ssl_key=None if key is None else Secret(key),
    )


def seal(target: PostgresTarget) -> str:
    """The target as encrypted text: what a feed needs to drop its slot when its connection and
    secrets are gone."""
    return encrypt(json.dumps(asdict(target))).decode()


def unseal(sealed: str) -> PostgresTarget:
    """Read back what `seal` wrote, its host checked again."""
    fields = json.loads(decrypt(sealed.encode()))
    for name in ("password", "ssl_key"):
        fields[name] = None if fields[name] is None else Secret(fields[name])
    return admitted(PostgresTarget(**fields))


def generator(facts: SourceFacts) -> Generator:
    """The load generator of a source."""
    return Generator(facts.generator, facts.started_at, facts.options)  # type: ignore[arg-type]


def _text(region: str, value: Any, pending: Mapping[str, str] | None) -> str | None:
    if not isinstance(value, dict):
        return None if value is None else str(value)
    gid = value["secret"]
    if pending and gid in pending:
        return Secret(pending[gid])
    row = SecretValue.objects.values_list("encrypted", flat=True)
    return decrypt(bytes(row.get(item__region__name=region, item__gid=gid)))
