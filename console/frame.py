"""What surrounds every page: navigation, theme, and who is signed in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from catalog.errors import UnknownItem
from catalog.here import region_here
from catalog.regions import region_names

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

THEMES = ("system", "light", "dark")


@dataclass(frozen=True)
class Place:
    """An entry of the navigation: icon, label and path; `key` is the palette's extra words.

    `owners` when only account owners may open it.
    """

    icon: str
    label: str
    path: str
    key: str = ""
    owners: bool = False


NAVIGATION: tuple[tuple[str, tuple[Place, ...]], ...] = (
    ("", (Place("house", "Overview", "/"), Place("terminal", "SQL shell", "/shell", "query"))),
    (
        "Data",
        (
            Place("database", "Objects", "/objects", "databases schemas tree"),
            Place("plug", "Connections", "/connections"),
            Place("log-in", "Sources", "/sources", "ingest"),
            Place("table-2", "Tables", "/tables"),
            Place("webhook", "Webhooks", "/webhooks", "http inbox curl"),
            Place("layers", "Views", "/views", "materialized replacements lineage"),
        ),
    ),
    (
        "Admin",
        (
            Place("key-round", "Secrets", "/secrets", "passwords"),
            Place("scroll-text", "Audit log", "/audit", "history events"),
            Place(
                "arrow-right-left", "Migrations", "/migrations", "plan tables legacy", owners=True
            ),
            Place("boxes", "Built-ins", "/builtins", "system relations upgrade", owners=True),
            Place("map", "Rollout", "/rollout", "regions cohorts flags windows", owners=True),
            Place("user-round", "Account", "/account", "tokens app passwords sign out"),
        ),
    ),
)
ACTIONS: tuple[Place, ...] = (
    Place("plus", "New source", "/sources/new", "create connect postgres load generator"),
    Place("plus", "New webhook", "/webhooks?new=1", "create http inbox"),
    Place("plus", "New view", "/views/new", "create materialized view query"),
    Place("plus", "New secret", "/secrets?new=1", "create password"),
    Place("key-square", "New token or app password", "/account?new=1", "create psql rest"),
    Place("file-braces", "REST API reference", "/api/docs", "openapi swagger"),
)


_WITHIN = {"/replacements": "/views", "/lineage": "/objects", "/schema-changes": "/migrations"}


def _here(path: str) -> str:
    """The entry of the navigation that a page belongs to."""
    first = "/" + path.strip("/").partition("/")[0]
    return _WITHIN.get(first, first)


def _navigation(*, owner: bool) -> tuple[tuple[str, tuple[Place, ...]], ...]:
    """What somebody may open."""
    return tuple(
        (label, tuple(place for place in places if owner or not place.owners))
        for label, places in NAVIGATION
    )


def _regions(*, signed_in: bool) -> dict[str, object]:
    """The region that the page shows, and the others where there are several."""
    names = region_names() if signed_in else ()
    with suppress(UnknownItem):
        return {"region": region_here(), "regions": names if len(names) > 1 else ()}
    return {"region": "", "regions": ()}


def frame(request: HttpRequest) -> dict[str, object]:
    """The context that every page's frame needs."""
    theme = request.COOKIES.get("theme", "system")
    user: AbstractBaseUser | AnonymousUser = getattr(request, "user", AnonymousUser())
    return {
        "navigation": _navigation(owner=getattr(user, "is_superuser", False)),
        "actions": ACTIONS,
        "theme": theme if theme in THEMES else "system",
        "here": _here(request.path),
        "command_key": "⌘" if "Mac" in request.headers.get("User-Agent", "") else "Ctrl ",
        "role": str(user) if user.is_authenticated else "",
        **_regions(signed_in=user.is_authenticated),
    }
