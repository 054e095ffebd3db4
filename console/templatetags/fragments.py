"""`{% show fragment %}`: draws a fragment or a group in a page."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString, mark_safe

from console.fragments.model import Fragment, Group, draw

register = template.Library()


@register.simple_tag
def show(piece: Fragment | Group) -> SafeString:
    """The piece's HTML, drawn by its own template."""
    return mark_safe(draw(piece))  # noqa: S308 (drawn by an escaping template)
