"""From a signed-in user to an open session, and what the client is told about it."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.results import Done, Notice
from catalog.sql.nodes.session import SetVariable
from catalog.sql.render import render
from console.execute import SignedIn, UserSession, open_session
from console.pgwire.conversation import REPORTED
from console.pgwire.failures import is_wanted, notice_response
from console.pgwire.messages import AUTHENTICATION_OK, parameter_status
from console.pgwire.startup import Wishes
from ingest.errors import HeadraceError


def open_for(user: SignedIn, wishes: Wishes) -> tuple[UserSession, bytes]:
    """The session with the client's wishes set, and the messages that say so.

    A wish that cannot be had is a notice, as the client could not even say `SHOW` otherwise; a
    region that is not there ends the connection. Raises UnknownItem.
    """
    session = open_session(user, wishes.region)
    notices = [notice for wish in _wished(wishes) for notice in _set(session, *wish)]
    told = [AUTHENTICATION_OK, parameter_status("server_encoding", "UTF8")]
    told += [parameter_status(shown, session.variable(name)) for name, shown in REPORTED.items()]
    told.append(parameter_status("is_superuser", "on" if user.is_superuser else "off"))
    told.append(parameter_status("session_authorization", user.email))
    least = session.variable("client_min_messages")
    told += [notice_response(notice) for notice in notices if is_wanted(notice, least)]
    return session, b"".join(told)


def _wished(wishes: Wishes) -> Iterator[tuple[str, str]]:
    """Variables to set. Clients name the user as the database where they are told of none."""
    database = wishes.parameters.get("database", "")
    if database not in {"", wishes.user}:
        yield "database", database
    yield from wishes.settings


def _set(session: UserSession, name: str, value: str) -> Iterator[Notice]:
    try:
        for result in session.execute(render(SetVariable(name, value))):
            yield from result.notices if isinstance(result, Done) else ()
    except HeadraceError as error:
        message = f"startup setting {name} not set: {error.message}"
        yield Notice(message, error.sqlstate, "notice", error.detail, error.hint)
