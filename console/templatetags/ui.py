"""Numbers, times and SQL as people read them."""

from __future__ import annotations

import datetime as dt
import re

from django import template
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

UNKNOWN = "\N{EN DASH}"

_TOKEN = re.compile(
    r"(?P<c>--[^\n]*)"
    r"|(?P<s>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<k>\b(?:CREATE|TABLE|SOURCE|SECRET|VIEW|FROM|IN|CLUSTER|POSTGRES|CONNECTION|PUBLICATION|"
    r"REFERENCE|WITH|TEXT|COLUMNS|EXCLUDE|BEGIN|COMMIT|AS|TO|LOAD|GENERATOR|ALTER|SYSTEM|SELECT|"
    r"LIMIT|WHERE|ORDER|BY|GROUP|HOST|PORT|DATABASE|USER|PASSWORD|SSL|MODE|FOR|ALL|TABLES|GRANT|"
    r"ON|ROLE|REPLICA|IDENTITY|FULL|VALIDATE|AUCTION|COUNTER|TPCH|KEY|VALUE|SET|DROP|NOT|NULL|"
    r"MATERIALIZED|REPLACEMENT|REPLACE|APPLY|WHEN|HYDRATED|ROLLBACK|REFRESH|EVERY|RETAIN|HISTORY|"
    r"JOIN|LEFT|RIGHT|INNER|OUTER|CROSS|USING|HAVING|DISTINCT|UNION|EXCEPT|INTERSECT|AND|OR|CASE|"
    r"THEN|ELSE|END|OVER|PARTITION|DESC|ASC|BETWEEN|LIKE|IS|TRUE|FALSE|CASCADE|SHOW|CHANGES)\b)"
    r"|(?P<p>[(){},;=])"
)
_STATUS_TAGS = {"running": "ok", "stalled": "warn", "failed": "bad", "dropped": "bad"}


@register.filter
def compact(number: float | None) -> str:
    """`12345` as `12.3K`; unknown (None or negative) as a dash."""
    if number is None or number < 0:
        return UNKNOWN
    for unit, size in (("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(int(number))


@register.filter
def size(number: float | None) -> str:
    """Bytes with a unit; unknown (None or negative) as a dash."""
    if number is None or number < 0:
        return UNKNOWN
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            return (
                f"{number:.0f} {unit}" if number >= 100 or unit == "B" else f"{number:.1f} {unit}"
            )
        number /= 1000
    return f"{number:.1f} TB"


@register.filter
def comma(number: float | None) -> str:
    """`1234567` as `1,234,567`; unknown as a dash."""
    return UNKNOWN if number is None or number < 0 else f"{int(number):,}"


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds as `0.4 s`, `3m 07s` or `2h 05m`."""
    if seconds is None or seconds < 0:
        return UNKNOWN
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)}m {int(seconds % 60):02d}s"
    return f"{int(seconds // 3600)}h {int(seconds % 3600 // 60):02d}m"


@register.filter
def heading(name: str) -> str:
    """A check's name as a heading: `wal level` as `WAL level`."""
    return (name[:1].upper() + name[1:]).replace("Wal ", "WAL ")


@register.filter
def took(milliseconds: float) -> str:
    """Milliseconds as `480 ms`, from a second on as `duration` says it."""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else duration(milliseconds / 1000)


@register.filter
def about(seconds: float) -> str:
    """An estimate in seconds without false precision: `5 s`, `3 min`, `2 h`."""
    for unit, span in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * span:
            return f"{seconds / span:.0f} {unit}"
    return f"{seconds:.0f} s"


@register.filter
def ago(moment: dt.datetime | None) -> str:
    """How long ago, in one unit."""
    if moment is None:
        return "never"
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 10:
        return "just now"
    for unit, span in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= span:
            count = int(seconds // span)
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


@register.filter
def at_ms(milliseconds: int | None) -> dt.datetime | None:
    """An mz_timestamp (ms) as a moment; 0 and None as None."""
    if not milliseconds:
        return None
    return dt.datetime.fromtimestamp(milliseconds / 1000, tz=dt.UTC)


@register.filter
def highlight(sql: str) -> SafeString:
    """SQL with its keywords, strings and punctuation marked for the style sheet."""
    pieces: list[str] = []
    position = 0
    for match in _TOKEN.finditer(sql):
        pieces.append(escape(sql[position : match.start()]))
        pieces.append(f'<i class="{match.lastgroup}">{escape(match.group())}</i>')
        position = match.end()
    pieces.append(escape(sql[position:]))
    return mark_safe("".join(pieces))  # noqa: S308 (every piece is escaped above)


@register.filter
def found(text: str, wanted: str) -> str:
    """`text` with the part that a search found marked."""
    at = text.lower().find(wanted.lower()) if wanted else -1
    if at < 0:
        return text
    end = at + len(wanted)
    marked = f"{escape(text[:at])}<mark>{escape(text[at:end])}</mark>{escape(text[end:])}"
    return mark_safe(marked)  # noqa: S308 (every piece is escaped above)


@register.filter
def status_tag(status: str) -> str:
    """The colour of a status' tag."""
    return _STATUS_TAGS.get(status, "accent")
