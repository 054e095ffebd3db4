"""Errors and notices as messages."""

from __future__ import annotations

from catalog.results import Notice
from console.errors import to_dict
from console.pgwire.messages import message, text
from ingest.errors import HeadraceError

_LEVELS = {"debug": 0, "log": 1, "info": 2, "notice": 2, "warning": 3, "error": 4}


def error_response(error: HeadraceError, severity: str = "ERROR") -> bytes:
    """ErrorResponse; upstream's failed checks are its detail, their remedies its hint."""
    told = to_dict(error)
    failed = [check for check in told["checks"] if check["level"] != "ok"]
    found = "\n".join(_joined(check["summary"], check["cause"]) for check in failed)
    fixes = "\n".join(_joined(check["fix"], check["upstream_sql"]) for check in failed)
    fields = {
        "S": severity,
        "V": severity,
        "C": error.sqlstate,
        "M": error.message,
        "D": error.detail or found,
        "H": error.hint or fixes.strip(),
        "P": str(told["position"] or ""),
    }
    return _response(b"E", fields)


def notice_response(notice: Notice) -> bytes:
    """NoticeResponse."""
    severity = notice.severity.upper()
    fields = {
        "S": severity,
        "V": severity,
        "C": notice.code,
        "M": notice.message,
        "D": notice.detail or "",
        "H": notice.hint or "",
    }
    return _response(b"N", fields)


def is_wanted(notice: Notice, least: str) -> bool:
    """Whether a client with that `client_min_messages` wants to be told."""
    return _LEVELS.get(notice.severity.lower(), 2) >= _LEVELS.get(least, 2)


def _response(kind: bytes, fields: dict[str, str]) -> bytes:
    body = b"".join(code.encode() + text(value) for code, value in fields.items() if value)
    return message(kind, body + b"\0")


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
