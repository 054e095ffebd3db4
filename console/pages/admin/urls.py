"""Where the pages for account owners are."""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from console.pages.admin import builtins, migration, migrations, region, rollout, switching


class MigrationId(StringConverter):
    """`m` and a number."""

    regex = "m[0-9]{1,9}"


class ChangeId(StringConverter):
    """`c` and a number."""

    regex = "c[0-9]{1,9}"


register_converter(MigrationId, "migration")
register_converter(ChangeId, "change")
_ONE = "migrations/<path:region>/<migration:gid>"

urlpatterns = [
    path("migrations", migrations.migration_list),
    path("migrations/plan", migrations.plan),
    path(f"{_ONE}", migration.migration_page),
    path(f"{_ONE}/steps/<int:number>", migration.step),
    path(f"{_ONE}/rollback-blockers", migration.rollback_check),
    path(f"{_ONE}/download/<str:what>", migration.download),
    path(f"{_ONE}/<str:action>", migration.act),
    path("schema-changes", switching.change_list),
    path("schema-changes/begin", switching.begin),
    path("schema-changes/<change:gid>", switching.change_page),
    path("schema-changes/<change:gid>/step", switching.step),
    path("schema-changes/<change:gid>/give-up", switching.give_up),
    path("schema-changes/<change:gid>/script", switching.script),
    path("builtins", builtins.builtin_page),
    path("rollout", rollout.rollout_page),
    path("rollout/change/<str:what>", rollout.change),
    path("rollout/<path:region>/flag", region.set_flag),
    path("rollout/<path:region>", region.region_page),
]
