"""`manage.py regions`: every region, and how far its migration is; `run` does what is due."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.migrate import regions, rollout
from catalog.names import SYSTEM_ROLE
from ingest.errors import HeadraceError


class Command(BaseCommand):
    """Lists regions; `enable provider/region` makes one; `run` applies what is due now."""

    help = "List regions, make one, or apply the approved migrations whose window is open."

    def add_arguments(self, parser: CommandParser) -> None:
        """What to do."""
        parser.add_argument("action", choices=("list", "enable", "run"), nargs="?", default="list")
        parser.add_argument("region", nargs="?", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it and tell of it."""
        try:
            if options["action"] == "enable":
                provider, _, place = options["region"].partition("/")
                made = rollout.enable_region(provider, place, SYSTEM_ROLE)
                self.stdout.write(f"{made.region} {'made' if made.made else 'was there'}")
            elif options["action"] == "run":
                for region, gid, error in rollout.run_due():
                    self.stdout.write(" ".join(filter(None, (region, gid, error or "done"))))
            else:
                self._list()
        except HeadraceError as error:
            raise CommandError(f"{error.message}. {error.hint or ''}".strip()) from error

    def _list(self) -> None:
        for row in regions.regions():
            flags = ", ".join(f"{flag.name}={flag.value}" for flag in row.flags)
            left = f"{row.progress.left} objects in the old form"
            told = (row.name, row.cohort or "no cohort", left, row.migration, row.state, flags)
            self.stdout.write("  ".join(filter(None, told)))
