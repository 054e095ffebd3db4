"""Golden cases as data: blocks of `> input`, then `= canonical` or `! line:column kind message`.

A canonical text of several lines goes on with `| `. `python -m tests.catalog.sql.golden` writes
the expected lines anew from the inputs; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

from catalog.sql import Parsed, parse_each_or_error, render

FOLDER = Path(__file__).parent / "golden"


def cases() -> list[tuple[str, str, list[str]]]:
    """File name, input, expected lines."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text().strip("\n").split("\n\n"):
            lines = block.split("\n")
            sql = "\n".join(line[2:] for line in lines if line.startswith(">"))
            found.append((path.name, sql, [line for line in lines if not line.startswith(">")]))
    return found


def actual(sql: str) -> list[str]:
    """What the parser says about the input, in the file's form."""
    lines: list[str] = []
    for outcome in parse_each_or_error(sql):
        if isinstance(outcome, Parsed):
            lines += ("= " + render(outcome.statement).replace("\n", "\n| ")).split("\n")
            continue
        before = sql[: outcome.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        lines.append(f"! {line}:{column} {type(outcome).__name__} {outcome.message}")
    return lines


def rewrite() -> None:
    """Write every file's expected lines as they are now."""
    blocks: dict[str, list[str]] = {}
    for name, sql, _ in cases():
        given = [f"> {line}".rstrip() for line in sql.split("\n")]
        blocks.setdefault(name, []).append("\n".join(given + actual(sql)))
    for name, texts in blocks.items():
        (FOLDER / name).write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    rewrite()
