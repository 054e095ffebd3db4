"""A personal token's two forms, and the only thing kept of its secret.

A personal token is a client id and a secret, both UUIDs. An app-specific password is the same 32
bytes as one word, for protocols with a single password field: URL-safe base64 without padding
(43 characters). `mzp_` may stand in front, and 64 hexadecimal digits, with whatever special
characters between them, mean the same.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import uuid
from dataclasses import dataclass, field

PREFIX = "mzp_"
_LONGEST = 200
_BASE64 = re.compile(r"[A-Za-z0-9_-]{43}=?\Z")
_HEX = re.compile(r"[0-9a-fA-F]{64}\Z")
_SCHEME = "hmac-sha256"


@dataclass(frozen=True)
class Credentials:
    """What a program shows at the door."""

    client_id: uuid.UUID
    secret: uuid.UUID = field(repr=False)


def encode(credentials: Credentials) -> str:
    """The app-specific password: 43 characters, safe in a URL."""
    packed = credentials.client_id.bytes + credentials.secret.bytes
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode(text: str) -> Credentials | None:
    """Read an app-specific password in any of its forms; None when it is not one."""
    body = text.strip().removeprefix(PREFIX)
    if len(body) > _LONGEST:
        return None
    if _BASE64.match(body):
        return _credentials(_from_base64(body))
    digits = re.sub(r"[^0-9A-Za-z]", "", body)
    return _credentials(bytes.fromhex(digits)) if _HEX.match(digits) else None


def _from_base64(body: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(body.rstrip("=") + "=")
    except binascii.Error:
        return b""


def _credentials(packed: bytes) -> Credentials | None:
    if len(packed) != 32:
        return None
    return Credentials(uuid.UUID(bytes=packed[:16]), uuid.UUID(bytes=packed[16:]))


def fingerprint(credentials: Credentials) -> str:
    """What is kept of a secret: a keyed hash, salted by the client id.

    The secret is random over its whole length, so one fast hash is as good as a slow one.
    """
    digest = hmac.digest(credentials.client_id.bytes, credentials.secret.bytes, hashlib.sha256)
    return f"{_SCHEME}${digest.hex()}"


def matches(credentials: Credentials, kept: str) -> bool:
    """Whether the secret is the one that `kept` was made of; takes the same time either way."""
    return hmac.compare_digest(fingerprint(credentials), kept)
