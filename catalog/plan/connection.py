"""CREATE CONNECTION, VALIDATE CONNECTION."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from catalog.plan.creation import full, new_entry
from catalog.plan.facts import UpstreamFacts
from catalog.plan.operations import CreateItem
from catalog.plan.options import Options
from catalog.plan.picture import ConnectionFacts, Entry
from catalog.plan.plans import Change, Rows
from catalog.plan.scope import Scope, refused
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.names import Option, SecretReference
from catalog.sql.render import render
from ingest.contract.relation import Column, Relation
from ingest.contract.types import TEXT

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
POSTGRES = (
    "HOST",
    "PORT",
    "DATABASE",
    "USER",
    "PASSWORD",
    "SSL MODE",
    "SSL CERTIFICATE",
    "SSL CERTIFICATE AUTHORITY",
    "SSL KEY",
)
CHECKS = Relation(
    tuple(
        Column(name, TEXT, nullable=name in {"cause", "fix", "upstream_sql"})
        for name in ("check", "level", "summary", "cause", "fix", "upstream_sql")
    )
)


def create_connection(statement: CreateConnection, scope: Scope) -> Change:
    """A connection; upstream was asked before, unless WITH (VALIDATE = false)."""
    path = scope.new_path(statement.name)
    tag = "CREATE CONNECTION"
    if notice := scope.taken("connection", path, if_not_exists=statement.if_not_exists):
        return Change(tag, notices=(notice,))
    facts, secrets = resolve_connection(statement, scope)
    canonical = replace(
        statement,
        name=full(path),
        options=tuple(_qualified(option, scope) for option in statement.options),
        if_not_exists=False,
        validate=None,
    )
    entry = new_entry(
        scope,
        "connection",
        path,
        render(canonical),
        facts=facts,
        needs=tuple(dict.fromkeys(secret.id for secret in secrets)),
    )
    return Change(tag, (CreateItem(entry),), touches=secrets)


def resolve_connection(
    statement: CreateConnection, scope: Scope
) -> tuple[ConnectionFacts, tuple[Entry, ...]]:
    """The connection's options checked, with defaults, and the secrets that they refer to."""
    if statement.kind.lower() != "postgres":
        kind = f"CREATE CONNECTION TO {statement.kind.upper()}"
        raise refused(kind, "Use TO POSTGRES.")
    options = Options(statement.options, "POSTGRES CONNECTION")
    options.only(POSTGRES)
    mode = (options.text("SSL MODE") or "prefer").lower().replace("_", "-")
    if mode not in SSL_MODES:
        raise options.invalid("SSL MODE", f"expected one of {', '.join(SSL_MODES)}")
    resolved: dict[str, Any] = {
        "host": options.required("HOST").strip(),
        "port": options.integer("PORT", 5432, 1, 65535),
        "database": options.required("DATABASE"),
        "user": options.required("USER"),
        "ssl_mode": mode,
    }
    secrets: list[Entry] = []
    for option in ("PASSWORD", "SSL KEY", "SSL CERTIFICATE", "SSL CERTIFICATE AUTHORITY"):
        key = _KEYS[option]
        if option.startswith("SSL CERTIFICATE") and not options.is_secret(option):
            if (text := options.text(option)) is not None:
                resolved[key] = text
        elif (name := options.secret(option)) is not None:
            secret = scope.item(name, "secret")
            secrets.append(secret)
            resolved[key] = {"secret": secret.id}
    return ConnectionFacts("postgres", resolved), tuple(secrets)


_KEYS = {
    "PASSWORD": "password",
    "SSL KEY": "ssl_key",
    "SSL CERTIFICATE": "ssl_certificate",
    "SSL CERTIFICATE AUTHORITY": "ssl_root_certificate",
}


def _qualified(option: Option, scope: Scope) -> Option:
    if not isinstance(option.value, SecretReference):
        return option
    entry = scope.item(option.value.name, "secret")
    return replace(option, value=SecretReference(full(entry.path)))


def validate_connection(statement: ValidateConnection, facts: UpstreamFacts, scope: Scope) -> Rows:
    """The checks, one row each; a failed one is a row and not an error."""
    entry = scope.item(statement.name, "connection")
    rows = tuple(
        (
            check.name,
            check.level,
            check.summary,
            check.cause or None,
            check.fix or None,
            check.upstream_sql or None,
        )
        for check in facts.checks
    )
    return Rows("VALIDATE CONNECTION", CHECKS, rows, touches=(entry,))
