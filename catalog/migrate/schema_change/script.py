"""A switch as one SQL text, for those who run it themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from catalog.migrate.schema_change.plan import Step

_WAITS = {
    "snapshot": "Wait until the table is running: SELECT status FROM"
    " mz_internal.mz_source_statuses",
    "compare": "Look at what would change before going on",
}


def script(steps: Iterable[Step], back: Iterable[str]) -> str:
    """Every statement in order with what it is for; what is done is a comment. At the end, in
    comments, what takes it back as things are."""
    return "\n".join((*_lines(steps), *_back(tuple(back)), ""))


def _lines(steps: Iterable[Step]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        yield f"-- {number}. {step.kind} {_one_line(step.name)}: {step.why}"
        if step.done:
            yield "-- done"
        elif step.kind == "compare":
            yield f"-- {_WAITS['compare']}:"
            yield " ".join(("-- SHOW CHANGES FOR REPLACEMENT", _one_line(step.name) + ";"))
        elif step.waits:
            yield f"-- {_WAITS[step.kind]}"
        else:
            yield from (f"{statement};" for statement in step.statements)
        yield ""


def _back(statements: tuple[str, ...]) -> Iterator[str]:
    if statements:
        yield "-- To give it up, as things are now:"
        for statement in statements:
            yield from (f"-- {line}" for line in f"{statement};".splitlines())


def _one_line(name: str) -> str:
    return " ".join(name.split())
