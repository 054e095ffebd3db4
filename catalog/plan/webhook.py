"""CREATE TABLE | SOURCE .. FROM WEBHOOK."""

from __future__ import annotations

from dataclasses import replace

from catalog.errors import InvalidStatement, NotSupported
from catalog.plan.checking import compile_check
from catalog.plan.creation import collection, full, new_entry
from catalog.plan.flags import enabled
from catalog.plan.operations import CreateItem
from catalog.plan.picture import Entry, SourceFacts, TableFacts
from catalog.plan.plans import Change
from catalog.plan.scope import Scope, checked_identifier, supported_cluster
from catalog.sql.nodes.webhook import Check, CreateWebhook
from catalog.sql.render import render
from ingest.contract.commands import ExportColumn
from ingest.contract.relation import Column, Relation
from ingest.contract.types import TEXT, Type

UPSTREAM = "webhook://inbox"
"""All webhooks of a region are one upstream: one feed logs them."""
JSONB, BYTEA = Type("jsonb"), Type("bytea")
BODY: dict[str, Type] = {"text": TEXT, "json": JSONB, "json array": JSONB, "bytes": BYTEA}


def create_webhook(statement: CreateWebhook, scope: Scope) -> Change:
    """A table (or, in the older form, a source) that is filled by HTTP requests."""
    path = scope.new_path(statement.name)
    tag = f"CREATE {statement.kind.upper()}"
    if notice := scope.taken(statement.kind, path, if_not_exists=statement.if_not_exists):
        return Change(tag, notices=(notice,))
    if statement.kind == "source" and enabled(scope, "force_source_table_syntax"):
        message = (
            "CREATE SOURCE .. FROM WEBHOOK not supported; use CREATE TABLE .. FROM WEBHOOK instead"
        )
        raise NotSupported(message)
    supported_cluster(statement.cluster)
    check, secrets = _resolved(statement.check, scope)
    columns = webhook_columns(statement)
    canonical = replace(statement, name=full(path), check=check, cluster=None, if_not_exists=False)
    item = f"u{scope.picture.counters.item}"
    relation = Relation(tuple(Column(c.name, c.type, c.nullable) for c in columns))
    output = TableFacts(
        source=item,
        namespace="webhook",
        reference=path[2],
        identity=scope.picture.counters.oid,
        columns=columns,
    )
    facts = SourceFacts("webhook", output=output)
    fields = collection(scope, relation, facts)
    needs = tuple(dict.fromkeys(secret.id for secret in secrets))
    entry = new_entry(scope, statement.kind, path, render(canonical), needs=needs, **fields)
    return Change(tag, (CreateItem(entry, upstream=UPSTREAM),), touches=secrets)


def _resolved(check: Check | None, scope: Scope) -> tuple[Check | None, tuple[Entry, ...]]:
    """The check with its secrets' full names, tried on nothing; and the secrets."""
    if check is None:
        return None, ()
    compile_check(check)
    inputs, secrets = [], []
    for one in check.inputs:
        if one.secret is not None:
            secret = scope.item(one.secret, "secret")
            secrets.append(secret)
            one = replace(one, secret=full(secret.path), alias=one.name)
        inputs.append(one)
    return replace(check, inputs=tuple(inputs)), tuple(secrets)


def webhook_columns(statement: CreateWebhook) -> tuple[ExportColumn, ...]:
    """The body, all headers where they are wanted, then the headers with columns of their own.

    Raises InvalidStatement for a name that stands twice.
    """
    found = [("body", BODY[statement.body], False)]
    if statement.headers is not None:
        found.append(("headers", JSONB, False))
    found += [(one.name, BYTEA if one.as_bytes else TEXT, True) for one in statement.mapped]
    names = [name for name, _, _ in found]
    for name in names:
        if names.count(name) > 1:
            message = f'column "{name}" specified more than once'
            raise InvalidStatement(message, sqlstate="42701")
    return tuple(
        ExportColumn(checked_identifier(name), type_, nullable, name, position, type_.oid, -1)
        for position, (name, type_, nullable) in enumerate(found, 1)
    )
