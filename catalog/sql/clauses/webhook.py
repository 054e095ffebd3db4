"""Webhooks."""

from __future__ import annotations

from catalog.sql.clauses.style import Style, name_of, when, words
from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.webhook import Check, CheckInput, CreateWebhook, HeaderFilter
from catalog.sql.strings import identifier, literal


def create_webhook(s: CreateWebhook, _: Style) -> list[Clause]:
    """Clauses of CreateWebhook."""
    head = words(f"CREATE {s.kind.upper()}", when(s.if_not_exists, "IF NOT EXISTS"))
    return [
        words(head, name_of(s.name)),
        name_of(s.cluster, "IN CLUSTER"),
        f"FROM WEBHOOK BODY FORMAT {s.body.upper()}",
        _headers(s.headers),
        *(
            words(
                "INCLUDE HEADER",
                literal(one.header),
                "AS",
                identifier(one.name),
                when(one.as_bytes, "BYTES"),
            )
            for one in s.mapped
        ),
        _check(s.check) if s.check else "",
    ]


def _headers(headers: tuple[HeaderFilter, ...] | None) -> Clause:
    if not headers:
        return when(headers is not None, "INCLUDE HEADERS")
    named = tuple(words(when(h.excluded, "NOT"), literal(h.header)) for h in headers)
    return Group("INCLUDE HEADERS", named, fill=True)


def _check(check: Check) -> Clause:
    inputs = ", ".join(map(_input, check.inputs))
    shown = words(when(inputs, f"WITH ({inputs})"), check.text)
    return f"CHECK ({shown})"


def _input(one: CheckInput) -> str:
    what = name_of(one.secret, "SECRET") if one.secret else one.kind.upper()
    alias = words("AS", identifier(one.alias)) if one.alias else ""
    return words(what, alias, when(one.as_bytes, "BYTES"))
