"""Session variables: their defaults, what they may be, and how they are shown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from catalog.errors import InvalidStatement, UnknownItem
from catalog.names import CLUSTER, DATABASE, SCHEMA

SERVER_VERSION = "15.0"
MZ_VERSION = "v0.170.0 (headrace)"


@dataclass(frozen=True)
class Variable:
    """One variable. `check` returns the value as it is kept or raises ValueError; `reported` ones
    are told to clients when they change."""

    default: str
    description: str
    check: Callable[[str], str] = str
    reported: bool = False
    fixed: bool = False


def _one_of(*allowed: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value.lower() not in allowed:
            raise ValueError(f"Available values: {', '.join(allowed)}.")  # noqa: EM102
        return value.lower()

    return check


def _flag(value: str) -> str:
    if value.lower() in {"on", "true", "1", "yes", "t"}:
        return "on"
    if value.lower() in {"off", "false", "0", "no", "f"}:
        return "off"
    raise ValueError("Available values: on, off.")


def _off(value: str) -> str:
    if _flag(value) == "on":
        raise ValueError(
            "Reads are at the newest time that all inputs are complete at; waiting for upstream's "
            "present is not supported yet."
        )
    return "off"


def _encoding(value: str) -> str:
    if value.replace("-", "").replace("_", "").upper() not in {"UTF8", "UNICODE"}:
        raise ValueError("Available values: UTF8.")
    return "UTF8"


def _zone(value: str) -> str:
    if value.upper() in {"UTC", "GMT", "Z", "ETC/UTC"}:
        return "UTC"
    try:
        return ZoneInfo(value).key
    except (KeyError, ValueError, OSError):
        raise ValueError("Expected the name of a time zone.") from None


def _number(value: str) -> str:
    if not re.fullmatch(r"-?\d+", value.strip()):
        raise ValueError("Expected a whole number.")
    return value.strip()


_UNITS = {"us": 1e-6, "ms": 1e-3, "": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}


def seconds(value: str) -> float:
    """A duration such as `60 s`, `500ms` or `1500` (ms) in seconds; raises ValueError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value.lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError("Expected a duration, such as 60 s or 500 ms.")
    return float(match[1]) * _UNITS[match[2]]


def _duration(value: str) -> str:
    seconds(value)
    return value.strip()


VARIABLES: dict[str, Variable] = {
    "application_name": Variable("", "The client's name.", reported=True),
    "auto_route_catalog_queries": Variable("on", "Kept for clients.", _flag),
    "client_encoding": Variable("UTF8", "The client's encoding.", _encoding, reported=True),
    "client_min_messages": Variable(
        "notice",
        "The least severe notices that are sent.",
        _one_of("debug", "log", "notice", "warning", "error"),
    ),
    "cluster": Variable(CLUSTER, "Where queries run."),
    "current_object_missing_warnings": Variable("on", "Kept for clients.", _flag),
    "database": Variable(DATABASE, "The database of names with one or two parts."),
    "datestyle": Variable("ISO, MDY", "How dates are written.", reported=True),
    "emit_timestamp_notice": Variable("off", "Tell the timestamp of every SELECT.", _flag),
    "extra_float_digits": Variable("3", "Kept for clients.", _number),
    "idle_in_transaction_session_timeout": Variable("2 min", "Kept for clients.", _duration),
    "integer_datetimes": Variable("on", "Kept for clients.", reported=True, fixed=True),
    "intervalstyle": Variable("postgres", "How intervals are written.", _one_of("postgres")),
    "is_superuser": Variable("off", "Whether the role may do everything.", fixed=True),
    "max_query_result_size": Variable("1GB", "Kept for clients."),
    "mz_version": Variable(MZ_VERSION, "The version spoken.", reported=True, fixed=True),
    "real_time_recency": Variable("off", "Wait for upstream's present before reading.", _off),
    "search_path": Variable(SCHEMA, "Where names with one part are looked for."),
    "server_version": Variable(SERVER_VERSION, "The version.", reported=True, fixed=True),
    "server_version_num": Variable("150000", "The version as a number.", fixed=True),
    "sql_safe_updates": Variable("off", "Kept for clients.", _flag),
    "standard_conforming_strings": Variable(
        "on", "Backslashes in strings mean themselves.", _one_of("on"), reported=True
    ),
    "statement_timeout": Variable(
        "60 s", "How long a statement may run; 0 is forever.", _duration
    ),
    "timezone": Variable("UTC", "The time zone of times shown.", _zone, reported=True),
    "transaction_isolation": Variable(
        "strict serializable",
        "What a transaction sees.",
        _one_of("strict serializable", "serializable"),
    ),
    "welcome_message": Variable("on", "Kept for clients.", _flag),
}
ALIASES = {
    "schema": "search_path",
    "time zone": "timezone",
    "transaction isolation level": "transaction_isolation",
}


class Variables:
    """One session's values."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def copy(self) -> Variables:
        """The same values, to go back to."""
        return Variables(self._values)

    def __getitem__(self, name: str) -> str:
        name = canonical(name)
        return self._values.get(name, VARIABLES[name].default)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Name, value and description of all, in order of name."""
        for name, variable in VARIABLES.items():
            yield name, self[name], variable.description

    def set(self, name: str, value: str | None) -> tuple[str, str]:
        """Keep a value (None: the default); the name and the value as kept.

        Raises UnknownItem for an unknown variable and InvalidStatement for a wrong value.
        """
        name = canonical(name)
        variable = VARIABLES[name]
        if value is None:
            self._values.pop(name, None)
            return name, self[name]
        if variable.fixed:
            if value == self[name]:
                return name, value
            message = f'parameter "{name}" cannot be changed'
            raise InvalidStatement(message, sqlstate="55P02")
        try:
            self._values[name] = variable.check(value)
        except ValueError as error:
            message = f'invalid value for parameter "{name}": "{value}"'
            raise InvalidStatement(message, hint=str(error)) from None
        return name, self._values[name]

    @property
    def search_path(self) -> tuple[str, ...]:
        """The schemas of the search path, unquoted."""
        parts = re.findall(r'\s*(?:"((?:[^"]|"")*)"|([^,]+?))\s*(?:,|$)', self["search_path"])
        return tuple(
            quoted.replace('""', '"') if quoted else plain.lower()
            for quoted, plain in parts
            if quoted or plain
        )

    @property
    def timeout(self) -> float | None:
        """Seconds that a statement may run, None without a limit."""
        return seconds(self["statement_timeout"]) or None


def canonical(name: str) -> str:
    """The variable's own name; raises UnknownItem."""
    name = ALIASES.get(name.lower(), name.lower())
    if name not in VARIABLES:
        near = difflib.get_close_matches(name, VARIABLES, n=1)
        hint = f'Did you mean "{near[0]}"?' if near else None
        message = f'unrecognized configuration parameter "{name}"'
        raise UnknownItem(message, hint=hint)
    return name
