"""The region that a request is about, for what is asked without naming one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.conf import settings

from catalog.errors import UnknownItem


@dataclass(frozen=True)
class _Choice:
    region: str = ""
    known: bool = True


_OWN = _Choice()
_chosen: ContextVar[_Choice] = ContextVar("region", default=_OWN)


def region_here() -> str:
    """The region chosen by `within`, the installation's own outside of it.

    Raises UnknownItem when there is none of the chosen name.
    """
    choice = _chosen.get()
    if not choice.known:
        raise unknown_region(choice.region)
    return choice.region or str(settings.HEADRACE_REGION)


@contextmanager
def within(region: str, *, known: bool = True) -> Iterator[None]:
    """Let everything inside be about the region; whoever needs one that is not `known` fails."""
    token = _chosen.set(_Choice(region, known))
    try:
        yield
    finally:
        _chosen.reset(token)


def unknown_region(name: str) -> UnknownItem:
    """The error for a name that no region has."""
    message = f'unknown region "{name}"'
    return UnknownItem(message, hint="GET /api/regions lists them.")
