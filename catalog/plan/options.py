"""Reading `WITH`-style options: each known, each once, each of the right kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from catalog.errors import InvalidStatement
from catalog.names import dotted
from catalog.sql.nodes.names import Name, Option, SecretReference


class Options:
    """A statement's options by upper-case name; raises InvalidStatement for doubled ones."""

    def __init__(self, options: Iterable[Option], what: str) -> None:
        self.what = what
        self.found: dict[str, Option] = {}
        for option in options:
            name = option.name.upper()
            if name in self.found:
                message = f"{name} specified more than once"
                raise InvalidStatement(message, sqlstate="42601", position=_at(option))
            self.found[name] = option

    def only(self, allowed: Iterable[str]) -> None:
        """Raises for an option that is not among `allowed`."""
        names = set(allowed)
        for name, option in self.found.items():
            if name not in names:
                message = f"{self.what} does not support {name}"
                hint = f"Supported options: {', '.join(sorted(names))}."
                raise InvalidStatement(message, hint=hint, position=_at(option))

    def text(self, name: str) -> str | None:
        """An option's text, None when it is absent; raises for a secret where text must stand."""
        option = self.found.get(name)
        if option is None:
            return None
        match option.value:
            case str():
                return option.value
            case bool():
                return str(option.value).lower()
            case Name():
                return dotted(option.value.parts)
            case _:
                raise self.invalid(name, "expected text")

    def required(self, name: str) -> str:
        """An option's text; raises when it is absent or empty."""
        value = self.text(name)
        if not value:
            message = f"{name} option is required"
            raise InvalidStatement(message, hint=f"Add {name} to the {self.what}'s options.")
        return value

    def secret(self, name: str) -> Name | None:
        """The name of the secret that an option refers to; raises for plain text."""
        option = self.found.get(name)
        if option is None:
            return None
        if isinstance(option.value, SecretReference):
            return option.value.name
        raise self.invalid(
            name,
            "must be a SECRET",
            f"CREATE SECRET first, then write {name} SECRET name.",
        )

    def is_secret(self, name: str) -> bool:
        """Whether the option refers to a secret."""
        option = self.found.get(name)
        return option is not None and isinstance(option.value, SecretReference)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """An option's whole number between `low` and `high`."""
        value = self.text(name)
        if value is None:
            return default
        if not re.fullmatch(r"\d{1,18}", value.strip()) or not low <= int(value) <= high:
            raise self.invalid(name, f"expected a whole number from {low} to {high}")
        return int(value)

    def invalid(self, name: str, why: str, hint: str | None = None) -> InvalidStatement:
        """The error for an option's value."""
        option = self.found.get(name)
        message = f"invalid {name}: {why}"
        return InvalidStatement(message, hint=hint, position=_at(option) if option else None)


def _at(option: Option) -> int | None:
    return option.at if option.at >= 0 else None
