"""The Celery application; its tasks live in console/worker.py."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("headrace")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["console"], related_name="worker")
