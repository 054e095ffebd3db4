"""`manage.py builtins plan | apply | status`: built-in relations and the release that starts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.migrate import releases
from catalog.migrate.builtins import steps_of
from catalog.regions import region_names
from ingest.errors import HeadraceError


class Command(BaseCommand):
    """Shows, before a start, what it would do to built-ins; `apply` does it without starting."""

    help = "Show or make the migration of built-in relations that the next start makes."

    def add_arguments(self, parser: CommandParser) -> None:
        """What to do."""
        parser.add_argument("action", choices=("plan", "apply", "status"), nargs="?")
        parser.set_defaults(action="plan")

    def handle(self, *args: Any, **options: Any) -> None:
        """Tell of every region; exits with 1 when a start would be refused."""
        try:
            if options["action"] == "apply":
                prepared = releases.prepare_all()
            elif options["action"] == "status":
                self._status()
                return
            else:
                prepared = tuple(releases.look(name) for name in region_names())
        except HeadraceError as error:
            told = ". ".join(filter(None, (error.message, error.detail, error.hint)))
            raise CommandError(told) from error
        for one in prepared:
            self._tell(one)
        if any(one.blockers for one in prepared):
            raise CommandError("the start would be refused; nothing was changed")

    def _tell(self, prepared: releases.Prepared) -> None:
        plan = prepared.plan
        if prepared.first:
            self.stdout.write(f"{prepared.region}: {len(plan.creates)} built-ins are remembered")
            return
        changed = len(plan.creates) + len(plan.drops)
        self.stdout.write(
            f"{prepared.region}: {len(plan.kept)} built-ins stay"
            + ("" if changed else "; nothing to do")
        )
        for step in steps_of(plan):
            ids = " -> ".join(filter(None, (step.item, step.new_item)))
            name = ".".join(part for part in step.path if part)
            self.stdout.write(f"  {step.action} {name} ({ids}): {step.why}")
        for blocker in prepared.blockers:
            self.stdout.write(f"  BLOCKED {blocker.name}: {blocker.problem}. {blocker.remedy}")

    def _status(self) -> None:
        for name in region_names():
            for one in releases.remembered(name):
                self.stdout.write(f"{name} {one.id} {one.name} {one.fingerprint[:12]}")
