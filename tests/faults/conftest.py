"""One product and one upstream of its own for all cases, and the table of what they showed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.field import Field, Wound
from tests.services import postgres, product

_shown: list[Wound] = []


@pytest.fixture(scope="session")
def field() -> Iterator[Field]:
    """The product at work, with a PostgreSQL that may be killed."""
    with ExitStack() as stack:
        points = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            server = stack.enter_context(postgres.running())
        except LookupError as missing:
            pytest.skip(f"no PostgreSQL here: {missing}")
        running = stack.enter_context(product.running(HEADRACE_FAIL_POINT=f"@{points}"))
        made = Field(running, server, points)
        made.wounds = _shown
        stack.callback(made.close)
        made.open()
        yield made


@pytest.fixture(autouse=True)
def tidy(field: Field) -> Iterator[None]:
    """Every case begins with the same tables and one source."""
    yield
    field.tidy()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Who was killed when, and what came of it."""
    if not _shown:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line(
        f"{'victim':<24}{'phase':<14}{'lost':>6}{'doubled':>9}{'told s':>9}{'runs again s':>14}"
    )
    for wound in _shown:
        told = "-" if wound.told is None else f"{wound.told:.1f}"
        terminalreporter.write_line(
            f"{wound.victim:<24}{wound.phase:<14}{wound.lost:>6}{wound.doubled:>9}"
            f"{told:>9}{wound.recovered:>14.1f}"
        )
