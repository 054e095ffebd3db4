"""Texts to be kept as files."""

from __future__ import annotations

from django.http import HttpResponse


def attachment(text: str, name: str) -> HttpResponse:
    """The text as a file of that name."""
    answer = HttpResponse(text, content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
