"""Encryption of secrets at rest, with the installation's key."""

from __future__ import annotations

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from ingest.contract.upstream import Secret
from ingest.errors import Terminal


def encrypt(value: str) -> bytes:
    """The value, encrypted and authenticated."""
    return Fernet(settings.HEADRACE_SECRET_KEY).encrypt(value.encode())


def decrypt(encrypted: bytes) -> Secret:
    """The value behind `encrypt`; raises Terminal when the key is another one."""
    try:
        value = Fernet(settings.HEADRACE_SECRET_KEY).decrypt(bytes(encrypted))
    except InvalidToken:
        message = "a secret cannot be decrypted with this installation's key"
        hint = "Set HEADRACE_SECRET_KEY to the key it was stored with, or ALTER SECRET."
        raise Terminal(message, hint=hint) from None
    return Secret(value.decode())
