"""Settings, from the environment only (`.env` at the project's root is read if present)."""

import re
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from callbacks import schedule
from common import logs, private_files, urls
from common.postgresql.base import KEEPALIVES, PooledConnection
from common.process import pools
from config import declared

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
private_files.tighten(VAR_DIR)

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")

DEVELOPMENT = env.bool(
    "DEBUG", default=declared.BY_NAME["DEBUG"].default == "true"
)  # starts with secrets that are missing, weak or publicly known
DEBUG = False  # Django's own answers errors in HTML, with tracebacks and settings, whatever was asked for


def text(name: str, default: str = "") -> str:
    """A setting as it was given, also one that the library takes for another's name; an empty one counts as absent."""
    return str(env.ENVIRON.get(name, "")).strip() or default or declared.BY_NAME[name].default


def listed(text: str) -> list[str]:
    """The comma-separated parts, without blanks around them and without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def whole(name: str) -> int:
    """A decimal integer within the bounds of its declaration."""
    value, bounds = text(name), declared.BY_NAME[name]
    if not re.fullmatch("[0-9]{1,15}", value) or not bounds.at_least <= int(value) <= bounds.at_most:
        reason = f"{name}: {value!r} is not a whole number from {bounds.at_least} to {bounds.at_most}."
        raise ImproperlyConfigured(reason)
    return int(value)


def secret(name: str, development: str) -> str:
    """A secret that must be set, except where DEBUG is on."""
    value = text(name, development if DEVELOPMENT else "")
    if not value:
        raise ImproperlyConfigured(f"{name} is not set. `make run` writes a .env with random secrets.")
    return value


DEVELOPMENT_KEY = "development-only-secret-key-of-darkroom-not-for-production-0000000000"
SECRET_KEY = secret("SECRET_KEY", DEVELOPMENT_KEY)
if not DEVELOPMENT and (
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
    if not DEVELOPMENT and _key == DEVELOPMENT_ENCRYPTION_KEY:
        raise ImproperlyConfigured("ENCRYPTION_KEYS holds the publicly known development key.")
    try:
        Fernet(_key)
    except ValueError as error:
        raise ImproperlyConfigured("ENCRYPTION_KEYS: comma-separated Fernet keys (32 bytes, base64).") from error


def base_url(url: str) -> str:
    """An http(s) address without a slash at its end, and without an @ even in its path."""
    try:
        if "@" in url:
            raise ValueError("must not contain @")
        return urls.base_url(url)
    except ValueError as error:
        reason = f"PUBLIC_BASE_URL: {url!r} is not http(s)://host, without user, query and fragment."
        raise ImproperlyConfigured(reason) from error


HOST = text("HOST")
PORT = whole("PORT")
PUBLIC_BASE_URL = base_url(text("PUBLIC_BASE_URL", f"http://127.0.0.1:{PORT}"))
_public = urlsplit(PUBLIC_BASE_URL)
ALLOWED_HOSTS = listed(text("ALLOWED_HOSTS")) or ["127.0.0.1", "localhost", "[::1]", str(_public.hostname)]
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]


def database(url: str) -> dict[str, Any]:
    """Django's entry for PostgreSQL or SQLite; the reasons never repeat the URL, which holds a password."""
    try:
        found: dict[str, Any] = env.db_url_config(url)
    except ValueError:
        found = {}
    known = ("django.db.backends.sqlite3", "django.db.backends.postgresql")
    if found.get("ENGINE") not in known or not found.get("NAME"):
        raise ImproperlyConfigured("DATABASE_URL: postgresql://user:password@host:5432/name or sqlite:////folder/file.")
    return found


_database = database(text("DATABASE_URL", f"sqlite:///{VAR_DIR / 'darkroom.sqlite3'}"))
DATABASES = {"default": _database}
if _database["ENGINE"] == "django.db.backends.sqlite3":
    if _database["NAME"] != ":memory:":
        private_files.make_folder(Path(_database["NAME"]).parent)
    _database["ENGINE"] = "common.sqlite"
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    _database["ENGINE"] = "common.postgresql"
    _database["CONN_MAX_AGE"] = 0
    _database["OPTIONS"] = {**KEEPALIVES, **_database.get("OPTIONS", {})}
    _database["OPTIONS"]["pool"] = {
        "min_size": 1,
        "max_size": 24,
        "timeout": 5,
        # Not longer than others wait before they ask again: the pool sleeps so long, also if the server is back.
        "reconnect_timeout": 5,
        "connection_class": PooledConnection,
    }
    # The server plans a statement once for each connection: to plan most of ours costs more than to run them.
    _database["OPTIONS"] |= {"server_side_binding": True, "prepare_threshold": 2}
pools.close_at_exit()

ASSET_STORAGE = text("ASSET_STORAGE", f"file://{VAR_DIR / 'assets'}")
ASSET_ACCEL = text("ASSET_ACCEL")
if not re.fullmatch(r"(/((?!\.{1,2}/)[A-Za-z0-9._~-]+/)+)?", ASSET_ACCEL):
    raise ImproperlyConfigured("ASSET_ACCEL: a path that begins and ends with /, such as /internal/.")
if ASSET_ACCEL and urlsplit(ASSET_STORAGE).scheme == "s3":
    raise ImproperlyConfigured("ASSET_ACCEL: for files in a folder; ASSET_STORAGE is a bucket.")
ASSET_URL_TTL = whole("ASSET_URL_TTL")
ASSET_RETENTION = whole("ASSET_RETENTION")
PAYLOAD_RETENTION = whole("PAYLOAD_RETENTION")
MAX_REQUEST_BYTES = whole("MAX_REQUEST_BYTES")
MAX_CONNECTIONS = whole("MAX_CONNECTIONS")
MAX_SPOOL_BYTES = whole("MAX_SPOOL_BYTES")
MAX_INPUT_BYTES = whole("MAX_INPUT_BYTES")
RELAY_OUTPUT_TOKENS = whole("RELAY_OUTPUT_TOKENS")
METRICS_TOKEN = text("METRICS_TOKEN")
WORKER_LEASE = whole("WORKER_LEASE")
WORKER_GRACE = whole("WORKER_GRACE")
SSE_HEARTBEAT = whole("SSE_HEARTBEAT")

try:
    CALLBACK_SCHEDULE = schedule.parse(text("CALLBACK_SCHEDULE"))
except ValueError as _error:
    raise ImproperlyConfigured(f"CALLBACK_SCHEDULE: {_error}") from _error


def networks(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Comma-separated CIDRs."""
    try:
        return tuple(ip_network(cidr) for cidr in listed(text(name)))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


OUTBOUND_ALLOW_NETWORKS = networks("OUTBOUND_ALLOW_NETWORKS")
OUTBOUND_DENY_NETWORKS = networks("OUTBOUND_DENY_NETWORKS")
TRUSTED_PROXIES = networks("TRUSTED_PROXIES")
ADMIN_NETWORKS = networks("ADMIN_NETWORKS")


def deadlines(text: str) -> dict[str, int]:
    """`queue=86400,image=900,video=7200` in seconds; what is not named keeps its default."""
    known = dict(declared.DEADLINES)
    for part in filter(None, text.split(",")):
        name, _, seconds = part.strip().partition("=")
        if (
            name not in known
            or not re.fullmatch("[0-9]{1,10}", seconds)
            or not 1 <= int(seconds) <= declared.LONGEST_SECONDS
        ):
            raise ImproperlyConfigured(f"TASK_DEADLINES: {part!r} is not <{'|'.join(known)}>=<seconds>.")
        known[name] = int(seconds)
    return known


TASK_DEADLINES = deadlines(text("TASK_DEADLINES"))


def rates(text: str) -> dict[str, int]:
    """`submit=600/min,read=6000/min,relay=6000/min` as requests per minute; `off` as none."""
    known = dict(declared.RATES)
    if text.strip() == "off":
        return {}
    for part in filter(None, text.split(",")):
        name, _, rate = part.strip().partition("=")
        count, _, unit = rate.partition("/")
        if name not in known or not re.fullmatch("[0-9]{1,10}", count) or int(count) < 1 or unit != "min":
            raise ImproperlyConfigured(f"RATE_LIMITS: {part!r} is not <{'|'.join(known)}>=<count>/min, nor `off`.")
        known[name] = int(count)
    return known


RATE_LIMITS = rates(text("RATE_LIMITS"))


def asset_storage(url: str) -> dict[str, Any]:
    """Django's STORAGES entry for `file:///folder` or `s3://bucket[/prefix]?endpoint=…&region=…`."""
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.path and not parts.netloc:
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
    "desk.admin_config.DeskAdminConfig",
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
    "pages",
    "desk",
    "console",
    "reference",
    "sandbox",
]

MIDDLEWARE = [
    "front.page_headers.PageHeaders",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "front.admin_door.AdminDoor",  # the innermost: its 404 passes all that another path's passes
]
APPEND_SLASH = False

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "front.django_application.application"

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
private_files.make_folder(STATIC_ROOT)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_REQUEST_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # the page of a plan sends six for each of its routes
LOGIN_REDIRECT_URL = "/admin/"  # where the address that was asked for is none of ours
SESSION_ENGINE = "desk.access.sessions"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_BASE_URL.startswith("https://")
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "front.error_responses.handle",
}

LOGGING = logs.configuration()
