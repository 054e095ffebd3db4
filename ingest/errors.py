"""The project's one error tree, from the bottom.

    HeadraceError                 message, detail, hint, SQLSTATE, position
    |- IngestError                raised below the catalog
    |   |- Transient              try again, nothing is lost: a cut connection, a busy slot
    |   `- Terminal               trying again cannot help: a dropped slot, an incompatible column
    `- (catalog.errors continues the tree for statements)

Whether a failure is retried is decided by its type, never by its text.
"""

from __future__ import annotations


class HeadraceError(Exception):
    """A failure told to a user, the same through every entrance.

    `message` is lower case without a full stop; `detail` says what was found; `hint` says what to
    do next; `position` is a 0-based offset in characters into the statement's text, or None.
    """

    sqlstate = "XX000"

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        sqlstate: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.position = position
        if sqlstate is not None:
            self.sqlstate = sqlstate


class IngestError(HeadraceError):
    """A failure below the catalog."""


class Transient(IngestError):
    """Worth another try: the other side may come back."""

    sqlstate = "08006"


class Terminal(IngestError):
    """Needs a person: trying again would fail the same way."""

    sqlstate = "55000"
