"""What a source wizard knows so far, and its JSON form in the draft; never a secret's value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from ingest.contract.upstream import Check

STEPS = ("connection", "source", "tables", "review")
KIND = "source"


@dataclass
class Choice:
    """One chosen upstream table: the table it becomes and how its columns are read."""

    into: str
    text: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)


@dataclass
class WizardState:
    """The answers. `connection` and `source` are item ids once they exist.

    `fields` are the connection form's plain values; `secret` names the secret that this draft
    made; `chosen` goes by the reference's key.
    """

    connection: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    secret: str = ""
    demo: bool = False
    checks: list[Check] = field(default_factory=list)
    source: str = ""
    name: str = ""
    publication: str = ""
    chosen: dict[str, Choice] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What the draft keeps; choices are short lists, there may be thousands."""
        kept = {key: value for key, value in vars(self).items() if key not in {"checks", "chosen"}}
        kept["checks"] = [asdict(check) for check in self.checks]
        kept["chosen"] = {key: [c.into, c.text, c.exclude] for key, c in self.chosen.items()}
        return kept

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> WizardState:
        """Read back what `to_json` wrote."""
        plain = {
            key: kept[key] for key in cls.__dataclass_fields__ if key in kept and key != "chosen"
        }
        plain["checks"] = [Check(**check) for check in kept.get("checks", [])]
        chosen = {
            key: Choice(into, list(text), list(exclude))
            for key, (into, text, exclude) in kept.get("chosen", {}).items()
        }
        return cls(**cast(Any, plain), chosen=chosen)

    @property
    def reached(self) -> str:
        """The furthest step that can be shown."""
        if self.source:
            return "tables"
        return "source" if self.connection else "connection"
