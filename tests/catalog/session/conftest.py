from __future__ import annotations

from collections.abc import Callable

import pytest

from catalog.results import Done, Result, Rows
from catalog.session import Session, role_for


@pytest.fixture
def session(db: None) -> Session:
    """A superuser's session on an empty catalog."""
    return Session(role_for("local/embedded", "ada@example.com", superuser=True))


@pytest.fixture(autouse=True)
def nobody_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no maintainer here that an apply could wait for."""
    monkeypatch.setattr("catalog.maintenance.applying.CATCHING_UP", 0.0)


Run = Callable[[str], list[Result]]


@pytest.fixture
def run(session: Session) -> Run:
    return lambda sql: list(session.execute(sql))


def rows_of(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result, Rows)
    return [tuple(row.values()) for row in result.data.to_pylist()]


def tag_of(result: Result) -> str:
    assert isinstance(result, Done | Rows)
    return result.tag
