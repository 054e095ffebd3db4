"""Guard rails as a person types them, turned into a statement's options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.sql.nodes.names import Option
from console.fragments.staged import GuardFields

_WINDOW = re.compile(r"\s*(\d{1,2}):(\d{2})\s*[-\N{EN DASH}]\s*(\d{1,2}):(\d{2})\s*")


@dataclass(frozen=True)
class Typed:
    """What was typed, what is wrong with it by field, and the options that it makes."""

    fields: GuardFields
    options: tuple[Option, ...]
    wrong: dict[str, str] = field(default_factory=dict)


def typed(form: Mapping[str, str]) -> Typed:
    """Read `automatic`, `max_rows`, `max_percent` and `window`; without the first, no options."""
    texts = {name: form.get(name, "").strip() for name in ("max_rows", "max_percent", "window")}
    automatic = bool(form.get("automatic"))
    fields = GuardFields(automatic, texts["max_rows"], texts["max_percent"], texts["window"])
    if not automatic:
        return Typed(fields, ())
    wrong: dict[str, str] = {}
    options = [Option("APPLY WHEN HYDRATED", value=True)]
    rows = texts["max_rows"].replace(",", "").replace(" ", "")
    if rows and not rows.isdecimal():
        wrong["max_rows"] = "A whole number, or empty."
    elif rows:
        options.append(Option("MAX ROWS", rows))
    percent = texts["max_percent"].rstrip("% ")
    if percent and not re.fullmatch(r"\d+(\.\d+)?", percent):
        wrong["max_percent"] = "A number such as 2.5, or empty."
    elif percent:
        options.append(Option("MAX PERCENT", percent))
    match = _WINDOW.fullmatch(texts["window"])
    if texts["window"] and match is None:
        wrong["window"] = "Two times of the day, such as 02:00-04:00."
    elif match is not None:
        begin, end = (f"{int(match[n]):02}:{match[n + 1]}" for n in (1, 3))
        options.append(Option("WINDOW", f"{begin}-{end}"))
    return Typed(fields, tuple(options), wrong)
