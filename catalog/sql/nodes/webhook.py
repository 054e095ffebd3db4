"""CREATE TABLE | SOURCE .. FROM WEBHOOK, and the condition that its requests must meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from catalog.sql.nodes.names import Name

BodyFormat = Literal["text", "json", "json array", "bytes"]


@dataclass(frozen=True)
class Value:
    """A literal: text, a number as written, a truth value or null."""

    value: str | bool | None
    kind: Literal["text", "number", "boolean", "null", "interval"]
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Input:
    """A name: one of the check's inputs."""

    name: str
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Call:
    """A function or an operator (`name` is its sign or words) over arguments."""

    name: str
    arguments: tuple[Expression, ...]
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Cast:
    """`value::type`; `type` as PostgreSQL spells it."""

    value: Expression
    type: str
    at: int = field(default=-1, compare=False)


Expression = Value | Input | Call | Cast


@dataclass(frozen=True)
class CheckInput:
    """What a check may look at: `BODY`, `HEADERS` or `SECRET name`, `[AS alias] [BYTES]`."""

    kind: Literal["body", "headers", "secret"]
    secret: Name | None = None
    alias: str = ""
    as_bytes: bool = False

    @property
    def name(self) -> str:
        """What the expression calls it."""
        return self.alias or (self.secret.last if self.secret else self.kind)


@dataclass(frozen=True)
class Check:
    """`CHECK ([WITH (input, ..)] expression)`; `text` is the expression's canonical text."""

    inputs: tuple[CheckInput, ...]
    expression: Expression
    text: str = field(compare=False)
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class IncludedHeader:
    """`INCLUDE HEADER 'header' AS name [BYTES]`."""

    header: str
    name: str
    as_bytes: bool = False


@dataclass(frozen=True)
class HeaderFilter:
    """One of `INCLUDE HEADERS ([NOT] 'header', ..)`."""

    header: str
    excluded: bool = False


@dataclass(frozen=True)
class CreateWebhook:
    """`CREATE TABLE | SOURCE [IF NOT EXISTS] name [IN CLUSTER c] FROM WEBHOOK BODY FORMAT ..`.

    `headers` is None without INCLUDE HEADERS and empty for all of them. As a source it is the
    older form of the same thing.
    """

    kind: Literal["table", "source"]
    name: Name
    body: BodyFormat
    headers: tuple[HeaderFilter, ...] | None = None
    mapped: tuple[IncludedHeader, ...] = ()
    check: Check | None = None
    cluster: Name | None = None
    if_not_exists: bool = False
