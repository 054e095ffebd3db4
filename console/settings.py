"""Settings of every process, and the only reader of the environment.

Embedded defaults need nothing from outside; production sets HEADRACE_DATABASE, HEADRACE_REDIS,
HEADRACE_REMOTE, HEADRACE_WAREHOUSE and HEADRACE_SECRET_KEY, and no line of code differs.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from cryptography.fernet import Fernet

from ingest.contract.plane import Plane

BASE_DIR = Path(__file__).resolve().parent.parent
HEADRACE_ENVIRONMENT: dict[str, str] = dict(os.environ)
"""The environment as this process found it; the supervisor hands it on to its children."""

HEADRACE_HOME = Path(os.environ.get("HEADRACE_HOME", BASE_DIR / ".headrace")).absolute()
HEADRACE_HOME.mkdir(parents=True, exist_ok=True, mode=0o700)


def _running() -> dict[str, str]:
    """What a supervisor running on this home wrote down, so that `manage.py` commands join it."""
    path = HEADRACE_HOME / "run" / "services.json"
    if not path.exists():
        return {}
    found: dict[str, str] = json.loads(path.read_text())
    return found


def _secret_key() -> str:
    """The Fernet key from the environment, or one made once and kept in the home."""
    path = HEADRACE_HOME / "secret.key"
    if key := os.environ.get("HEADRACE_SECRET_KEY"):
        return key
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(Fernet.generate_key())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def _database(url: str) -> dict[str, Any]:
    """Django's settings for a `postgresql://user:password@host:port/name` URL; SQLite without."""
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": HEADRACE_HOME / "catalog.sqlite3",
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
            "TEST": {"NAME": HEADRACE_HOME / f"test-{os.getpid()}.sqlite3"},
        }
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or 5432,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def _words(name: str, default: str = "") -> list[str]:
    """A comma-separated variable as a list."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


_services = _running()

HEADRACE_SECRET_KEY = _secret_key()
HEADRACE_JARS = Path(os.environ.get("HEADRACE_JARS") or HEADRACE_HOME / "jars").absolute()
HEADRACE_REGION = "local/embedded"
HEADRACE_HOST = os.environ.get("HEADRACE_HOST") or "127.0.0.1"
HEADRACE_PORT = int(os.environ.get("HEADRACE_PORT") or "8000")
HEADRACE_PGPORT = int(os.environ.get("HEADRACE_PGPORT") or "6875")
HEADRACE_PG_CLIENTS = int(os.environ.get("HEADRACE_PG_CLIENTS") or "100")
HEADRACE_PG_CERTIFICATE = os.environ.get("HEADRACE_PG_CERTIFICATE", "")
HEADRACE_PG_KEY = os.environ.get("HEADRACE_PG_KEY", "")
HEADRACE_DEMO = os.environ.get("HEADRACE_DEMO", "") not in {"", "0"}
HEADRACE_REDIS = os.environ.get("HEADRACE_REDIS") or _services.get("redis", "")
HEADRACE_PLANE = Plane(
    remote=os.environ.get("HEADRACE_REMOTE") or _services.get("remote", ""),
    warehouse=os.environ.get("HEADRACE_WAREHOUSE") or str(HEADRACE_HOME / "warehouse"),
)
HEADRACE_JAVA_HOME = os.environ.get("JAVA_HOME", "")
HEADRACE_UPSTREAM_ALLOW = _words("HEADRACE_UPSTREAM_ALLOW")
HEADRACE_UPSTREAM_DENY = _words("HEADRACE_UPSTREAM_DENY", "169.254.0.0/16,fe80::/10")
HEADRACE_FOLD_ROWS = int(os.environ.get("HEADRACE_FOLD_ROWS") or "20000")
"""Rows of a table's tail at which they are folded into its base."""
HEADRACE_LOG_FILES = int(os.environ.get("HEADRACE_LOG_FILES") or "1000")
"""New files in a log at which they are joined."""
HEADRACE_UPKEEP_SECONDS = float(os.environ.get("HEADRACE_UPKEEP_SECONDS") or "20")
"""How often tails are looked at; logs are a third as often."""
HEADRACE_VIEW_INTERVAL = float(os.environ.get("HEADRACE_VIEW_INTERVAL") or "0.25")
"""Seconds between two rounds of the maintained views at most: a feed that comes further begins one
too."""
HEADRACE_UNDO_SECONDS = float(os.environ.get("HEADRACE_UNDO_SECONDS") or "86400")
"""How long the definition that an applied replacement replaced is kept, to be taken back."""
HEADRACE_URL = os.environ.get("HEADRACE_URL") or f"http://{HEADRACE_HOST}:{HEADRACE_PORT}"
"""Where other systems reach this installation: the start of webhooks' URLs."""
HEADRACE_WEBHOOK_RATE = float(os.environ.get("HEADRACE_WEBHOOK_RATE") or "500")
"""Requests a second to one webhook, in each web process."""
HEADRACE_WEBHOOK_BYTES = int(os.environ.get("HEADRACE_WEBHOOK_BYTES") or str(2 * 2**20))
"""Bytes that a webhook's request may have."""
HEADRACE_FAIL_POINT = os.environ.get("HEADRACE_FAIL_POINT", "")

SECRET_KEY = sha256(b"django" + HEADRACE_SECRET_KEY.encode()).hexdigest()
DEBUG = os.environ.get("HEADRACE_DEBUG", "") == "1"
ALLOWED_HOSTS = _words("HEADRACE_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _words("HEADRACE_ORIGINS")
HTTPS = os.environ.get("HEADRACE_HTTPS", "") == "1"

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "lucide",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "catalog",
    "console",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "console.choosing.RegionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.frame.frame",
            ],
        },
    }
]

DATABASES = {"default": _database(os.environ.get("HEADRACE_DATABASE", ""))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "catalog.User"
_validators = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_validators}.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": f"{_validators}.CommonPasswordValidator"},
    {"NAME": f"{_validators}.UserAttributeSimilarityValidator"},
]
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

STATIC_URL = "/static/"
STATIC_ROOT = HEADRACE_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if os.environ.get("HEADRACE_COMPRESS") == "1"
        else "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
"""Strict: no inline script or style, no eval, no other origin."""

_in_memory: dict[str, Any] = {"BACKEND": "channels.layers.InMemoryChannelLayer"}
_on_redis: dict[str, Any] = {
    "BACKEND": "channels_redis.core.RedisChannelLayer",
    "CONFIG": {"hosts": [{"address": HEADRACE_REDIS, "socket_timeout": 30}], "prefix": "headrace"},
}
CHANNEL_LAYERS = {"default": _on_redis if HEADRACE_REDIS else _in_memory}

_shared_cache = {
    "BACKEND": "console.cache.LastingCache",
    "LOCATION": HEADRACE_REDIS,
    "KEY_PREFIX": "headrace",
}
_own_cache = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
CACHES = {"default": _shared_cache if HEADRACE_REDIS else _own_cache}

CELERY_BROKER_URL = HEADRACE_REDIS or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULE_FILENAME = str(HEADRACE_HOME / "run" / "beat")
CELERY_TIMEZONE = "UTC"

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "console.api.summaries.Summarised",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "console.api.authentication.AppPassword",
        "console.api.authentication.BearerToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["console.api.parsers.BoundedJSON"],
    "DEFAULT_THROTTLE_CLASSES": ["console.api.throttles.PerCaller"],
    "DEFAULT_THROTTLE_RATES": {
        "anonymous": "20/second",
        "rest": "100/second",
        "sql": "200/second",
    },
    "EXCEPTION_HANDLER": "console.api.failures.handle",
    "NUM_PROXIES": 0,
}
HEADRACE_BODY_LIMIT = 4 * 1024 * 1024
"""Bytes that a REST or SQL request may have."""

SPECTACULAR_SETTINGS = {
    "TITLE": "Headrace",
    "DESCRIPTION": (
        "Live tables from databases. Every write renders one SQL statement, returns it as `sql` "
        "and runs it, so whatever these resources do, SQL does too. `?region=` or the header "
        "`Headrace-Region` says which region a request is about; without them it is the first."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api",
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SORT_OPERATIONS": True,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        name: {"level": "WARNING"} for name in ("py4j", "pyspark", "celery", "kombu", "amqp")
    },
}
