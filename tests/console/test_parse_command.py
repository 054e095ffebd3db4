"""`manage.py parse` as a user's CI runs it: a process, standard input, JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def _run(sql: str | bytes, *options: str, home: Path) -> tuple[int, list[dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, "manage.py", "parse", *options],
        input=sql.encode() if isinstance(sql, str) else sql,
        capture_output=True,
        cwd=ROOT,
        env={"HEADRACE_HOME": str(home)},
        check=False,
    )
    assert done.stderr == b""
    return done.returncode, [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_one_line_for_each_statement_and_errors_do_not_hide_the_rest(tmp_path: Path) -> None:
    status, lines = _run("select 1;\ncreate table;\n-- é\nselect 'é';", home=tmp_path)
    assert status == 1
    assert lines == [
        {"canonical": "SELECT 1"},
        {"error": "Expected identifier, found semicolon", "line": 2, "column": 13},
        {"canonical": "SELECT 'é'"},
    ]


def test_null_keeps_lines_and_inputs_aligned(tmp_path: Path) -> None:
    status, lines = _run("show  tables\0\0-- x\0\nselect (; a; b\0select 2\0", "-0", home=tmp_path)
    assert status == 1
    assert lines == [
        {"canonical": "SHOW TABLES"},
        {"canonical": ""},
        {"canonical": ""},
        {"error": "Expected right parenthesis, found semicolon", "line": 2, "column": 9},
        {"canonical": "SELECT 2"},
    ]


def test_success_is_zero_fast_and_can_hide_secrets(tmp_path: Path) -> None:
    started = time.monotonic()
    status, lines = _run("create secret s as 'x'", "--redacted", home=tmp_path)
    assert time.monotonic() - started < 5
    assert (status, lines) == (0, [{"canonical": "CREATE SECRET s AS '<redacted>'"}])


def test_bytes_that_are_not_utf_8_have_a_position(tmp_path: Path) -> None:
    status, lines = _run(b"select 1;\n  \xff", home=tmp_path)
    assert status == 1
    assert lines[1] == {"error": "invalid character in input", "line": 2, "column": 3}
