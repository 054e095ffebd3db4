"""`manage.py parse`: a linter for SQL; needs no database and no service."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from catalog.sql import Parsed, parse_each_or_error, render
from ingest.errors import HeadraceError


class Command(BaseCommand):
    """One JSON line for each statement: `canonical`, or `error` with `line` and `column`.

    Lines and columns count from 1 in the input; `detail` and `hint` come along where there are
    any. Standard input is one input, and a statement with an error does not hide the next one.
    With `-0` each NUL ends an input, an input stops at its first error, and one without any
    statement still gets its line, `{"canonical": ""}`. Exit status 1 tells of an error.
    """

    help = "Check SQL statements from standard input; one JSON line for each statement."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """`-0` and `--redacted`."""
        parser.add_argument("-0", "--null", action="store_true", help="inputs are ended by NUL")
        parser.add_argument("--redacted", action="store_true", help="hide the values of secrets")

    def handle(self, *_: Any, null: bool = False, redacted: bool = False, **__: Any) -> None:
        """Read everything, write a line for each statement."""
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        inputs = text.removesuffix("\0").split("\0") if null else [text]
        failed = False
        for sql in inputs:
            for line in self._lines(sql, null=null, redacted=redacted):
                failed = failed or "error" in line
                self.stdout.write(json.dumps(line, ensure_ascii=False))
        if failed:
            raise SystemExit(1)

    def _lines(self, sql: str, *, null: bool, redacted: bool) -> Iterator[dict[str, Any]]:
        empty = True
        for outcome in parse_each_or_error(sql):
            empty = False
            if isinstance(outcome, Parsed):
                yield {"canonical": render(outcome.statement, redacted=redacted)}
                continue
            yield _error(sql, outcome)
            if null:
                return
        if empty and null:
            yield {"canonical": ""}


def _error(sql: str, error: HeadraceError) -> dict[str, Any]:
    before = sql[: error.position or 0]
    line: dict[str, Any] = {
        "error": error.message,
        "line": before.count("\n") + 1,
        "column": len(before) - before.rfind("\n"),
    }
    more = {"detail": error.detail, "hint": error.hint}
    return line | {key: value for key, value in more.items() if value}
