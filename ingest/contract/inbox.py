"""What a webhook's requests are on their way into the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

Cells = tuple[str | None, ...]


@dataclass(frozen=True)
class Accepted:
    """One accepted request: its rows, each value as PostgreSQL's text, in order of the columns.

    `reference` is the webhook's identity in its feed.
    """

    reference: int
    rows: tuple[Cells, ...]


class Inbox(Protocol):
    """Where one process leaves requests for their feed; used from one thread at a time."""

    def write(self, requests: list[Accepted]) -> None:
        """Keep requests for good; they are on disk when it returns.

        Raises Transient when they may not be: whoever sent them must not be told that they are.
        """
