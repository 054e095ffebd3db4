"""`manage.py app_password EMAIL`: a fresh app-specific password, for scripts and first set-ups."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.accounts import create_token, create_user, has_users, user_by_email
from ingest.errors import HeadraceError


class Command(BaseCommand):
    """Makes the user too: the first one becomes the owner."""

    help = "Print a new app-specific password for a user, making the user where there is none."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The user's e-mail, and what the token is for."""
        parser.add_argument("email")
        parser.add_argument("--name", default="command line", help="what the password is for")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the password, alone on a line; it is not shown again."""
        try:
            user = user_by_email(options["email"])
            if user is None:
                user = create_user(options["email"], owner=not has_users())
            issued = create_token(user, options["name"])
        except HeadraceError as error:
            raise CommandError(f"{error.message}. {error.hint or ''}".strip()) from error
        self.stdout.write(issued.app_password)
