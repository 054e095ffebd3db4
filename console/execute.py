"""SQL for a signed-in user: the only way from an entrance to the catalog's door.

Everything below is plain synchronous Python; async code comes in through `arun` only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError

from catalog import snapshot
from catalog.here import region_here
from catalog.parameters import Parameter
from catalog.regions import region_named
from catalog.results import Description, Result, Stream
from catalog.session import Session, role_for
from ingest.contract.relation import Relation
from ingest.contract.types import Type
from ingest.errors import HeadraceError, Transient

log = logging.getLogger(__name__)
Outcome = Result | HeadraceError


class SignedIn(Protocol):
    """What is asked of a user: an e-mail, which names their role, and whether they may do all."""

    @property
    def email(self) -> str:
        """The login."""

    @property
    def is_superuser(self) -> bool:
        """Whether they may do everything."""


@dataclass(frozen=True)
class _Owner:
    email: str
    is_superuser: bool


@contextmanager
def _faults_hidden() -> Iterator[None]:
    try:
        yield
    except HeadraceError:
        raise
    except (InterfaceError, OperationalError) as error:
        log.warning("the catalog's database did not answer a statement", exc_info=True)
        message, hint = "the catalog cannot be asked for now", "Try again."
        raise Transient(message, hint=hint, sqlstate="57P03") from error
    except Exception as error:
        log.exception("a statement failed for a reason of ours")
        message = "internal error"
        hint = "The server's log says more."
        raise HeadraceError(message, hint=hint) from error


class UserSession:
    """A session of one user; a fault of ours becomes an error without its inner text."""

    def __init__(self, user: SignedIn, region: str = "", *, automatic: bool = False) -> None:
        self.region = region or region_here()
        role = role_for(self.region, user.email, superuser=user.is_superuser)
        self._session = Session(role, self.region, automatic=automatic)

    @property
    def transaction_status(self) -> str:
        """`I`, `T` or `E`; see `catalog.session`."""
        return self._session.transaction_status

    def variable(self, name: str) -> str:
        """A session variable's value."""
        return self._session.variables[name]

    def execute(self, sql: str, parameters: Sequence[Parameter] = ()) -> Iterator[Result]:
        """Run the statements of `sql` in turn. Raises HeadraceError and nothing else."""
        with _faults_hidden():
            yield from self._session.execute(sql, parameters)

    def stream(self, sql: str, parameters: Sequence[Parameter] = ()) -> Iterator[Result | Stream]:
        """`execute` for an entrance that streams; see `catalog.session`."""
        with _faults_hidden():
            yield from self._session.stream(sql, parameters)

    def describe(self, sql: str, types: Sequence[Type | None] = ()) -> Description:
        """What the one statement of `sql` would give. Raises HeadraceError and nothing else."""
        with _faults_hidden():
            return self._session.describe(sql, types)

    def fail(self) -> None:
        """Let an open transaction fail, for an error that the session did not see itself."""
        self._session.fail()

    def cursor(self, name: str) -> Relation | None:
        """The columns of the open cursor of that name, if there is one."""
        return self._session.cursor(name)

    def close(self) -> None:
        """The client is gone: end what goes on."""
        self._session.close()

    def cancel(self) -> None:
        """Stop the query that is running; may be called from another thread.

        Raises HeadraceError and nothing else.
        """
        with _faults_hidden():
            self._session.cancel()


def open_session(user: SignedIn, region: str = "") -> UserSession:
    """A session for as long as a client's connection lives, in the region that the request is
    about or in another one of the account. Raises UnknownItem."""
    return UserSession(user, region_named(region) if region else "")


def run_by_itself(region: str, role: str, sql: str) -> None:
    """Run what a definition asks for, as the role that owns it. Raises HeadraceError."""
    known = snapshot.current(region).roles.get(role)
    owner = _Owner(role, known is not None and known.superuser)
    for _ in UserSession(owner, region, automatic=True).execute(sql):
        pass


def run(
    user: SignedIn,
    sql: str,
    parameters: Sequence[str | None] = (),
    *,
    session: UserSession | None = None,
) -> list[Outcome]:
    """Run a text in a session of its own (or a given one); the list ends with the first error."""
    outcomes: list[Outcome] = []
    try:
        opened = session or open_session(user)
        for result in opened.execute(sql, parameters):
            outcomes.append(result)
    except HeadraceError as error:
        outcomes.append(error)
    return outcomes


def runner(user: SignedIn, region: str) -> Callable[[str], None]:
    """Runs texts for the user in a region, each in a session of its own; raises HeadraceError."""

    def ran(sql: str) -> None:
        for outcome in run(user, sql, session=open_session(user, region)):
            if isinstance(outcome, HeadraceError):
                raise outcome

    return ran


async def arun(
    user: SignedIn,
    sql: str,
    parameters: Sequence[str | None] = (),
    *,
    session: UserSession | None = None,
) -> list[Outcome]:
    """`run` for async code, in a thread."""
    return await sync_to_async(run, thread_sensitive=False)(user, sql, parameters, session=session)
