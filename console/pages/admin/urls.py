"""Where the pages for account owners are."""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from console.pages.admin import builtins, migration, migrations, region, rollout


class MigrationId(StringConverter):
    """`m` and a number."""

    regex = "m[0-9]{1,9}"


register_converter(MigrationId, "migration")
_ONE = "migrations/<path:region>/<migration:gid>"

urlpatterns = [
    path("migrations", migrations.migration_list),
    path("migrations/plan", migrations.plan),
    path(f"{_ONE}", migration.migration_page),
    path(f"{_ONE}/steps/<int:number>", migration.step),
    path(f"{_ONE}/rollback-blockers", migration.rollback_check),
    path(f"{_ONE}/download/<str:what>", migration.download),
    path(f"{_ONE}/<str:action>", migration.act),
    path("builtins", builtins.builtin_page),
    path("rollout", rollout.rollout_page),
    path("rollout/change/<str:what>", rollout.change),
    path("rollout/<path:region>/flag", region.set_flag),
    path("rollout/<path:region>", region.region_page),
]
