"""The Celery application; its tasks live in console/worker.py."""

from __future__ import annotations

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("headrace")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["console"], related_name="worker")
app.conf.beat_schedule = {
    "reconcile": {"task": "console.worker.reconcile", "schedule": 5.0, "options": {"expires": 5}},
    "apply": {
        "task": "console.worker.apply_all",
        "schedule": settings.HEADRACE_UPKEEP_SECONDS,
        "options": {"expires": 20},
    },
    "fold views": {
        "task": "console.worker.fold_views",
        "schedule": settings.HEADRACE_UPKEEP_SECONDS,
        "options": {"expires": 20},
    },
    "migrate": {
        "task": "console.worker.migrate_due",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "compact": {
        "task": "console.worker.compact_all",
        "schedule": 3 * settings.HEADRACE_UPKEEP_SECONDS,
        "options": {"expires": 60},
    },
}
