"""Sign-in: the user is an e-mail, the password an app-specific password.

Passwords are kept as one-way hashes, so a client must show the password itself, which it may do
over TLS or on the same machine only.
"""

from __future__ import annotations

import ipaddress
from asyncio import StreamReader, StreamWriter

from catalog import accounts
from catalog.errors import SignInRefused
from console.execute import SignedIn
from console.pgwire.messages import (
    ASK_FOR_PASSWORD,
    Fields,
    ProtocolViolation,
    read_message,
)
from console.pgwire.startup import Wishes

_LONGEST = 2_000


async def ask_password(
    reader: StreamReader, writer: StreamWriter, wishes: Wishes, address: str
) -> str:
    """The password that the client shows.

    Raises SignInRefused (28000) without a user, or where the password could be read on its way.
    """
    if not wishes.user:
        raise SignInRefused("no user name specified in startup packet", sqlstate="28000")
    if not wishes.encrypted and not is_loopback(address):
        raise SignInRefused(
            "a password is not accepted over an unencrypted connection",
            hint="Connect with sslmode=require; the server needs HEADRACE_PG_CERTIFICATE for it.",
            sqlstate="28000",
        )
    writer.write(ASK_FOR_PASSWORD)
    await writer.drain()
    answer = await read_message(reader, _LONGEST)
    if answer.kind != b"p":
        raise ProtocolViolation("expected a password")
    return Fields(answer.body).text()


def sign_in(wishes: Wishes, password: str, address: str) -> SignedIn:
    """The user, looked up. Raises SignInRefused and TooManyAttempts."""
    try:
        return accounts.authenticate_app_password(password, email=wishes.user, address=address)
    except SignInRefused as refused:
        message = f'password authentication failed for user "{wishes.user}"'
        raise SignInRefused(message, detail=refused.message, hint=refused.hint) from None


def is_loopback(address: str) -> bool:
    """Whether the client is on this machine."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)
