"""What a live page is made of, and what changed since it was last sent.

A page draws its fragments into its first HTML; the websocket compares later ones with what it sent
and sends only those whose data differ. Data must therefore be comparable: frozen rows and scalars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.template.loader import get_template


@dataclass(frozen=True)
class Fragment:
    """One element with the DOM id `id`, drawn by `template` from `data`."""

    id: str
    template: str
    data: Mapping[str, object] = field(hash=False, default_factory=dict)


@dataclass(frozen=True)
class Group:
    """The children of the element with the DOM id `id`; `empty` is drawn when there are none."""

    id: str
    items: tuple[Fragment, ...]
    empty: Fragment | None = None


View = Mapping[str, "Fragment | Group"]
"""A page's live pieces by the name its template uses."""


@dataclass
class Change:
    """HTML to put in place of elements (`outer`) and inside elements (`inner`), by DOM id."""

    outer: dict[str, str] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.outer or self.inner)


def draw(piece: Fragment | Group) -> str:
    """The HTML of a fragment, or of all of a group's items."""
    if isinstance(piece, Fragment):
        context = {"id": piece.id, **piece.data}
        return str(get_template(piece.template).render(context))
    if not piece.items and piece.empty is not None:
        return draw(piece.empty)
    return "".join(draw(item) for item in piece.items)


def difference(before: View | None, after: View) -> Change:
    """What a browser that shows `before` needs to show `after`; everything without a before."""
    change = Change()
    for name, piece in after.items():
        old = before.get(name) if before else None
        if piece == old:
            continue
        if isinstance(piece, Fragment):
            change.outer[piece.id] = draw(piece)
        elif isinstance(old, Group) and _ids(old) == _ids(piece) and piece.items:
            changed = (new for was, new in zip(old.items, piece.items, strict=True) if was != new)
            change.outer |= {item.id: draw(item) for item in changed}
        else:
            change.inner[piece.id] = draw(piece)
    return change


def _ids(group: Group) -> list[str]:
    return [item.id for item in group.items]
