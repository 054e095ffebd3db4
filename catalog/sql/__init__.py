"""The language: text to statement nodes and back; pure."""

from catalog.sql.parse import Parsed, parse, parse_each, parse_each_or_error, parse_one
from catalog.sql.render import render, render_pretty

__all__ = [
    "Parsed",
    "parse",
    "parse_each",
    "parse_each_or_error",
    "parse_one",
    "render",
    "render_pretty",
]
