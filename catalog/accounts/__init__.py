"""Who may come in: users, sign-in, personal tokens and app-specific passwords.

secrets    a token's two UUIDs as one app-specific password, and back; what is kept of a secret
attempts   how many failed sign-ins are allowed
tokens     make, list, revoke and recognise personal tokens
users      the first owner, more users, sign-in
"""

from __future__ import annotations

from catalog.accounts.secrets import Credentials, decode, encode
from catalog.accounts.tokens import (
    IssuedToken,
    TokenRow,
    authenticate_app_password,
    create_token,
    is_valid,
    revoke_token,
    tokens,
)
from catalog.accounts.users import (
    authenticate,
    claim_first_owner,
    create_user,
    first_owner_link,
    has_users,
    user_by_email,
)

__all__ = [
    "Credentials",
    "IssuedToken",
    "TokenRow",
    "authenticate",
    "authenticate_app_password",
    "claim_first_owner",
    "create_token",
    "create_user",
    "decode",
    "encode",
    "first_owner_link",
    "has_users",
    "is_valid",
    "revoke_token",
    "tokens",
    "user_by_email",
]
