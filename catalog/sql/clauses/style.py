"""What the clauses of all statements share: names, options, and how loose the spelling is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.names import Name, Option, SecretReference
from catalog.sql.strings import identifier, literal

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_NUMERIC_OPTIONS = frozenset(
    ("PORT", "AS OF", "UP TO", "SCALE FACTOR", "MAX CARDINALITY", "KEYS", "SNAPSHOT ROUNDS")
) | frozenset(("VALUE SIZE", "SEED", "PARTITIONS", "BATCH SIZE", "MAX ROWS", "MAX PERCENT"))


@dataclass(frozen=True)
class Style:
    """How to write: the console's looser spelling, and whether secrets' values are hidden."""

    pretty: bool = False
    redacted: bool = False

    @property
    def equals(self) -> str:
        """What stands between an option's name and its value."""
        return " " if self.pretty else " = "


def words(*parts: str) -> str:
    """The parts that are not empty, with spaces between."""
    return " ".join(part for part in parts if part)


def name_of(name: Name | None, lead: str = "") -> str:
    """A name with its parts quoted where needed, after `lead`; empty without a name."""
    return words(lead, ".".join(map(identifier, name.parts))) if name else ""


def when(condition: object, words: str) -> str:
    """The words, if the condition holds."""
    return words if condition else ""


def name_list(lead: str, names: Iterable[str]) -> Group:
    """Quoted names in parentheses after `lead`."""
    return Group(lead, tuple(map(identifier, names)), fill=True)


def with_columns(head: str, columns: tuple[str, ...]) -> Clause:
    """`head (c, ..)`, or the head alone."""
    return name_list(head, columns) if columns else head


def option_clause(option: Option, style: Style) -> Clause:
    """`NAME = value`."""
    value = option.value
    if isinstance(value, tuple):
        lead = (option.name + style.equals).rstrip()
        return Group(lead, tuple(name_of(name) for name in value), fill=True)
    text = _option_value(option)
    return option.name + style.equals + text if text else option.name


def _option_value(option: Option) -> str:
    match option.value:
        case bool() as flag:
            return str(flag).lower()
        case Name() as name:
            return name_of(name)
        case SecretReference(name):
            return name_of(name, "SECRET")
        case str() as text if option.name in _NUMERIC_OPTIONS and _NUMBER.fullmatch(text):
            return text
        case str() as text:
            return ("FOR " if option.name == "RETAIN HISTORY" else "") + literal(text)
        case _:
            return ""


def option_list(lead: str, options: tuple[Option, ...], style: Style) -> Clause:
    """Options in parentheses after `lead`; empty without any."""
    return Group(lead, tuple(option_clause(o, style) for o in options)) if options else ""
