"""Every setting, declared once: its name, default, bounds and meaning.

`config/settings.py` reads the environment by these declarations; `.env.example` and the table of docs/operations.md are
made of them (`make docs`).
"""

from dataclasses import dataclass

from callbacks import schedule
from common import modalities

LONGEST_SECONDS = 100 * 365 * 86_400
DEADLINES = {"queue": 86_400} | {modality.name: modality.deadline_seconds for modality in modalities.TABLE}
RATES = {"submit": 600, "read": 6_000, "relay": 6_000}
"""Requests a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting, from the environment. `default` is what an absent value stands for, as text; empty where it is made
    of other settings or there is none: then `shown` says so. The bounds are those of a number. `meaning` is Markdown.
    `begins_group`: a blank line stands before it in `.env.example`."""

    name: str
    meaning: str
    default: str = ""
    shown: str = ""
    at_least: int = 1
    at_most: int = LONGEST_SECONDS
    begins_group: bool = False


TABLE = (
    Setting(
        name="SECRET_KEY",
        begins_group=True,
        shown="required",
        meaning="at least 50 random characters; signs sessions and asset URLs; a weak or publicly known one refuses "
        "to start",
    ),
    Setting(
        name="ENCRYPTION_KEYS",
        shown="required",
        meaning="comma-separated Fernet keys; the first encrypts credentials and keys' secrets, all decrypt, "
        "`reencrypt` moves to the first; a publicly known one refuses to start",
    ),
    Setting(
        name="DEBUG",
        default="false",
        meaning="development only: `true` starts with missing, weak or publicly known secrets; it changes no error "
        "page and nothing else, but `doctor` complains",
    ),
    Setting(
        name="HOST",
        begins_group=True,
        default="127.0.0.1",
        meaning="address the web process listens on",
    ),
    Setting(
        name="PORT",
        default="8000",
        at_most=65_535,
        meaning="the port that it listens on",
    ),
    Setting(
        name="PUBLIC_BASE_URL",
        shown="`http://127.0.0.1:PORT`",
        meaning="how clients reach the service; asset URLs start with it",
    ),
    Setting(
        name="ALLOWED_HOSTS",
        shown="loopback and the host of `PUBLIC_BASE_URL`",
        meaning="comma-separated host names that requests may name, on every path; others are 400. `/healthz`, "
        "`/readyz` and `/metrics` answer to any",
    ),
    Setting(
        name="DATABASE_URL",
        begins_group=True,
        shown="a SQLite file in `var/`",
        meaning="`postgresql://user:password@host:5432/name` or `sqlite:////folder/file`",
    ),
    Setting(
        name="ASSET_STORAGE",
        shown="a folder in `var/`",
        meaning="`file:///folder` or `s3://bucket[/prefix]?endpoint=…&region=…`",
    ),
    Setting(
        name="ASSET_ACCEL",
        shown="none",
        meaning="where the reverse proxy serves the folder of `ASSET_STORAGE`, such as `/internal/`: downloads name "
        "the file in `X-Accel-Redirect` and leave its bytes to the proxy; the operator's guide has an example",
    ),
    Setting(
        name="ASSET_URL_TTL",
        default="86400",
        meaning="seconds that an asset's URL is valid",
    ),
    Setting(
        name="ASSET_RETENTION",
        default="604800",
        at_least=0,
        meaning="seconds that an asset's bytes are kept; 0 is for ever",
    ),
    Setting(
        name="PAYLOAD_RETENTION",
        default="2592000",
        at_least=0,
        meaning="seconds that params of ended tasks are kept, and the Data URLs and uploads of those that were charged",
    ),
    Setting(
        name="MAX_REQUEST_BYTES",
        begins_group=True,
        default="33554432",
        at_most=2**40,
        meaning="largest request body, in bytes",
    ),
    Setting(
        name="MAX_CONNECTIONS",
        default="10000",
        at_most=1_000_000,
        meaning="connections at once of one web process; never more than its limit of open files less 512",
    ),
    Setting(
        name="MAX_SPOOL_BYTES",
        default="1073741824",
        at_most=2**50,
        meaning="bytes of request bodies and relayed answers that a web process holds at once; an account has at most"
        " a quarter of it, which should hold a largest body; one relayed answer of each account may go beyond"
        " it. Half of it again is memory that large bodies unfold to while they are read, half of that an "
        "account",
    ),
    Setting(
        name="MAX_INPUT_BYTES",
        default="2147483648",
        at_most=2**50,
        meaning="largest sum of the bytes of stored inputs (Data URLs, uploads, and options beyond 64 KiB) of one "
        "account's live tasks and unknown outcomes",
    ),
    Setting(
        name="RATE_LIMITS",
        default=",".join(f"{name}={count}/min" for name, count in RATES.items()),
        meaning="requests of one key a minute and web process; replays have twice the rate of `submit`, `relay` "
        "counts the calls of general keys; `off` switches the limits off",
    ),
    Setting(
        name="RELAY_OUTPUT_TOKENS",
        default="8192",
        at_most=100_000_000,
        meaning="output tokens that are reserved for a call of a general key where neither the request nor the model "
        "has a limit; they are sent upstream as its limit",
    ),
    Setting(
        name="METRICS_TOKEN",
        shown="none",
        meaning="bearer token for `/metrics`, from everywhere; without one only loopback may read it",
    ),
    Setting(
        name="TRUSTED_PROXIES",
        begins_group=True,
        shown="none",
        meaning="comma-separated networks (CIDR) of reverse proxies; only their `X-Forwarded-For` says who asks, for "
        "sign-ins and `ADMIN_NETWORKS`",
    ),
    Setting(
        name="ADMIN_NETWORKS",
        shown="any",
        meaning="comma-separated networks (CIDR) that see `/admin/`; to all others it is an unknown path",
    ),
    Setting(
        name="CALLBACK_SCHEDULE",
        begins_group=True,
        default=schedule.spelled(schedule.DEFAULT),
        meaning="seconds before each attempt to deliver a callback",
    ),
    Setting(
        name="SSE_HEARTBEAT",
        default="15",
        meaning="seconds between heartbeats of an event stream",
    ),
    Setting(
        name="TASK_DEADLINES",
        begins_group=True,
        default=",".join(f"{name}={seconds}" for name, seconds in DEADLINES.items()),
        meaning="seconds until a queued task times out, and a running one that its provider has not finished",
    ),
    Setting(
        name="WORKER_LEASE",
        default="60",
        meaning="seconds without a heartbeat after which a worker's tasks are taken over",
    ),
    Setting(
        name="WORKER_GRACE",
        default="120",
        at_least=0,
        meaning="seconds that a stopping worker waits for a paid call",
    ),
    Setting(
        name="OUTBOUND_ALLOW_NETWORKS",
        begins_group=True,
        shown="none",
        meaning="comma-separated networks that calls to users' addresses may reach although they are not public",
    ),
    Setting(
        name="OUTBOUND_DENY_NETWORKS",
        shown="none",
        meaning="comma-separated networks that such calls may never reach; wins over everything",
    ),
)
BY_NAME = {setting.name: setting for setting in TABLE}
