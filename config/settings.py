"""Settings, from the environment only (`.env` at the project's root is read if present)."""

from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from callbacks import schedule
from common import logs, pools

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")

DEBUG = env.bool("DEBUG", default=False)


def secret(name: str, development: str) -> str:
    """A secret that must be set, except where DEBUG is on."""
    value: str = env.str(name, default=development if DEBUG else "")
    if not value:
        raise ImproperlyConfigured(f"{name} is not set. `make run` writes a .env with random secrets.")
    return value


DEVELOPMENT_KEY = "development-only-secret-key-of-darkroom-not-for-production-0000000000"
SECRET_KEY = secret("SECRET_KEY", DEVELOPMENT_KEY)
if not DEBUG and (
    len(SECRET_KEY) < 50
    or len(set(SECRET_KEY)) < 5
    or SECRET_KEY == DEVELOPMENT_KEY
    or SECRET_KEY.startswith("django-insecure-")
):
    raise ImproperlyConfigured(
        "SECRET_KEY is weak or publicly known: 50 characters or more, at least 5 different ones, "
        "not a key from a document and not one with Django's prefix django-insecure-."
    )

DEVELOPMENT_ENCRYPTION_KEY = "ZGV2ZWxvcG1lbnQtb25seS1lbmNyeXB0aW9uLWtleSE="
ENCRYPTION_KEYS = [key.strip() for key in secret("ENCRYPTION_KEYS", DEVELOPMENT_ENCRYPTION_KEY).split(",")]
for _key in ENCRYPTION_KEYS:
    if not DEBUG and _key == DEVELOPMENT_ENCRYPTION_KEY:
        raise ImproperlyConfigured("ENCRYPTION_KEYS holds the publicly known development key.")
    try:
        Fernet(_key)
    except ValueError as error:
        raise ImproperlyConfigured("ENCRYPTION_KEYS: comma-separated Fernet keys (32 bytes, base64).") from error

HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
PUBLIC_BASE_URL = env.str("PUBLIC_BASE_URL", default=f"http://127.0.0.1:{PORT}").rstrip("/")
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]", urlsplit(PUBLIC_BASE_URL).hostname or "localhost"]
)
CSRF_TRUSTED_ORIGINS = [PUBLIC_BASE_URL]

DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'darkroom.sqlite3'}")}
_database: dict[str, Any] = DATABASES["default"]
if _database["ENGINE"] == "django.db.backends.sqlite3":
    if _database["NAME"] != ":memory:":
        Path(_database["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    _database["CONN_MAX_AGE"] = 0
    _database["CONN_HEALTH_CHECKS"] = True
    _database.setdefault("OPTIONS", {})["pool"] = {"min_size": 1, "max_size": 24, "timeout": 5}
    pools.close_at_exit()

ASSET_STORAGE = env.str("ASSET_STORAGE", default=f"file://{VAR_DIR / 'assets'}")
ASSET_URL_TTL = env.int("ASSET_URL_TTL", default=86_400)
ASSET_RETENTION = env.int("ASSET_RETENTION", default=7 * 86_400)
PAYLOAD_RETENTION = env.int("PAYLOAD_RETENTION", default=30 * 86_400)
MAX_REQUEST_BYTES = env.int("MAX_REQUEST_BYTES", default=32 * 1024 * 1024)
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
WORKER_LEASE = env.int("WORKER_LEASE", default=60)
WORKER_GRACE = env.int("WORKER_GRACE", default=120)
if WORKER_LEASE < 1 or WORKER_GRACE < 0:
    raise ImproperlyConfigured("WORKER_LEASE: at least 1 second; WORKER_GRACE: 0 or more.")
SSE_HEARTBEAT = env.int("SSE_HEARTBEAT", default=15)
if SSE_HEARTBEAT < 1:
    raise ImproperlyConfigured("SSE_HEARTBEAT: at least 1 second.")

try:
    CALLBACK_SCHEDULE = schedule.parse(env.str("CALLBACK_SCHEDULE", default="0,5,300,1800,7200,18000,36000,36000"))
except ValueError as _error:
    raise ImproperlyConfigured(f"CALLBACK_SCHEDULE: {_error}") from _error


def networks(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Comma-separated CIDRs."""
    try:
        return tuple(ip_network(cidr.strip()) for cidr in env.list(name, default=[]))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


OUTBOUND_ALLOW_NETWORKS = networks("OUTBOUND_ALLOW_NETWORKS")
OUTBOUND_DENY_NETWORKS = networks("OUTBOUND_DENY_NETWORKS")


def deadlines(text: str) -> dict[str, int]:
    """`queue=86400,image=900,video=7200` in seconds; what is not named keeps its default."""
    known = {"queue": 86_400, "image": 900, "video": 7_200, "3d": 7_200}
    for part in filter(None, text.split(",")):
        name, _, seconds = part.strip().partition("=")
        if name not in known or not seconds.isdigit() or int(seconds) < 1:
            raise ImproperlyConfigured(f"TASK_DEADLINES: {part!r} is not <queue|image|video|3d>=<seconds>.")
        known[name] = int(seconds)
    return known


TASK_DEADLINES = deadlines(env.str("TASK_DEADLINES", default=""))


def rates(text: str) -> dict[str, int]:
    """`submit=600/min,read=6000/min` as requests per minute; `off` as none."""
    known = {"submit": 600, "read": 6_000}
    if text.strip() == "off":
        return {}
    for part in filter(None, text.split(",")):
        name, _, rate = part.strip().partition("=")
        count, _, unit = rate.partition("/")
        if name not in known or not count.isdigit() or int(count) < 1 or unit != "min":
            raise ImproperlyConfigured(f"RATE_LIMITS: {part!r} is not <submit|read>=<count>/min, nor `off`.")
        known[name] = int(count)
    return known


RATE_LIMITS = rates(env.str("RATE_LIMITS", default=""))


def asset_storage(url: str) -> dict[str, Any]:
    """Django's STORAGES entry for `file:///folder` or `s3://bucket[/prefix]?endpoint=…&region=…`."""
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.path:
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": parts.path, "base_url": None},
        }
    if parts.scheme != "s3" or not parts.netloc:
        raise ImproperlyConfigured("ASSET_STORAGE: file:///folder or s3://bucket[/prefix]?endpoint=…&region=….")
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if unknown := query.keys() - {"endpoint", "region"}:
        raise ImproperlyConfigured(f"ASSET_STORAGE: unknown option {sorted(unknown)[0]}.")
    if ASSET_URL_TTL > 7 * 86_400:
        raise ImproperlyConfigured("ASSET_URL_TTL: S3 signs URLs for at most 604800 seconds.")
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ImproperlyConfigured("ASSET_STORAGE: s3:// needs the extra: pip install 'darkroom[s3]'.")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": parts.path.strip("/"),
            "endpoint_url": query.get("endpoint"),
            "region_name": query.get("region"),
            "querystring_auth": True,
            "querystring_expire": ASSET_URL_TTL,
            "file_overwrite": True,
            "default_acl": None,
        },
    }


STORAGES = {
    "default": asset_storage(ASSET_STORAGE),
    "assets": asset_storage(ASSET_STORAGE),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "accounts",
    "catalog",
    "billing",
    "callbacks",
    "tasks",
    "tasks_api",
    "worker",
    "desk",
    "sandbox",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
APPEND_SLASH = False

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

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
            ],
        },
    },
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_REQUEST_BYTES
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_BASE_URL.startswith("https://")
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "common.handler.handle",
}

LOGGING = logs.configuration()
