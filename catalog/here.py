"""The region that a request is about, for what is asked without naming one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings

_chosen: ContextVar[str] = ContextVar("region", default="")


def region_here() -> str:
    """The region chosen by `within`; the installation's own outside of it."""
    return _chosen.get() or str(settings.HEADRACE_REGION)


@contextmanager
def within(region: str) -> Iterator[None]:
    """Let everything inside be about the region; the name must be that of one."""
    token = _chosen.set(region)
    try:
        yield
    finally:
        _chosen.reset(token)
