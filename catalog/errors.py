"""Failures of statements: the catalog's branches of the one error tree.

    HeadraceError (ingest.errors)
    |- StatementError             anything a statement can do wrong
    |   |- SyntaxFailure          42601
    |   |- UnknownItem            42704 (42P01 for relations)
    |   |- DuplicateItem          42710 (42P07 for relations)
    |   |- DependentItems         2BP01
    |   |- WrongItemType          42809
    |   |- InvalidStatement       22023, 42602, ...
    |   |- NotSupported           0A000
    |   |- PermissionDenied       42501
    |   |- SignInRefused          28P01
    |   |- TooManyAttempts        53400
    |   |- StaleCatalog           40001, only when replanning did not help either
    |   `- UpstreamProblem        what purification found, with every check that failed
    `- IngestError (ingest.errors)

Wording follows PostgreSQL: lower case, no full stop, kind of object named, names in double quotes.
"""

from __future__ import annotations

from ingest.contract.upstream import Check
from ingest.errors import HeadraceError


class StatementError(HeadraceError):
    """A statement cannot be carried out as written."""

    sqlstate = "22023"


class SyntaxFailure(StatementError):
    """The text is not a statement; carries line and column, both 1-based."""

    sqlstate = "42601"

    def __init__(self, message: str, sql: str, offset: int, *, hint: str | None = None) -> None:
        before = sql[:offset]
        self.line = before.count("\n") + 1
        self.column = offset - (before.rfind("\n") + 1) + 1
        super().__init__(message, position=offset, hint=hint)


class UnknownItem(StatementError):
    """A name that resolves to nothing."""

    sqlstate = "42704"


class DuplicateItem(StatementError):
    """A name that is taken."""

    sqlstate = "42710"


class DependentItems(StatementError):
    """Something else still needs the object."""

    sqlstate = "2BP01"


class WrongItemType(StatementError):
    """The name is of another kind of object."""

    sqlstate = "42809"


class InvalidStatement(StatementError):
    """Options or values that cannot be right."""


class NotSupported(StatementError):
    """Understood, and not done here."""

    sqlstate = "0A000"


class PermissionDenied(StatementError):
    """The role may not."""

    sqlstate = "42501"


class SignInRefused(StatementError):
    """Who is asking could not be shown to be anybody."""

    sqlstate = "28P01"


class TooManyAttempts(StatementError):
    """Too many failures lately; waiting helps."""

    sqlstate = "53400"


class StaleCatalog(StatementError):
    """The catalog moved twice while the statement was planned."""

    sqlstate = "40001"


class UpstreamProblem(StatementError):
    """Upstream is not ready for the statement; `checks` itemises why."""

    sqlstate = "42501"

    def __init__(
        self,
        message: str,
        *,
        checks: tuple[Check, ...] = (),
        detail: str | None = None,
        hint: str | None = None,
        sqlstate: str | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint, sqlstate=sqlstate)
        self.checks = checks
