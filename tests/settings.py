"""The product's settings in a home of this test run's own, removed at its end."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "HEADRACE_TEST_HOME" not in os.environ:
    _home = tempfile.mkdtemp(prefix="headrace-test-")
    _root = Path(__file__).parent.parent
    os.environ.setdefault("HEADRACE_JARS", str(_root / ".headrace" / "jars"))
    os.environ["HEADRACE_HOME"] = os.environ["HEADRACE_TEST_HOME"] = _home
    for _name in ("HEADRACE_REMOTE", "HEADRACE_REDIS", "HEADRACE_FAIL_POINT"):
        os.environ.pop(_name, None)
    atexit.register(shutil.rmtree, _home, ignore_errors=True)

from console.settings import *  # noqa: F403 (the home must be named first)

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
