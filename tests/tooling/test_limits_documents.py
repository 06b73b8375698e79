"""The limits that docs/interface.md lists are those of the code and of the settings' defaults."""

import re
from typing import Any

import pytest

from accounts.models import Account, ApiKey
from callbacks import deliveries
from config import declared
from front import image_calls
from tasks.events import hub, reader
from tasks_api import waiting
from tools.stack import ROOT

PAGE = (ROOT / "docs/interface.md").read_text(encoding="utf-8")
ROWS = dict(
    re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE.split("\n## Limits", 1)[1].split("\n## ", 1)[0], re.MULTILINE)
)


def setting(name: str) -> int:
    return int(declared.BY_NAME[name].default)


def default(model: Any, field: str) -> int:
    return int(model._meta.get_field(field).default)


SUBMIT, READ, DAY = declared.RATES["submit"], declared.RATES["read"], 86_400
LIFETIMES = (setting("ASSET_URL_TTL") // 3600, setting("ASSET_RETENTION") // DAY, setting("PAYLOAD_RETENTION") // DAY)
LIMITS = {
    "request body": f"{setting('MAX_REQUEST_BYTES') >> 20} MiB",
    "bodies that arrive at once": f"{setting('MAX_SPOOL_BYTES') // 4 >> 20} MiB per account",
    "rate per key": f"{SUBMIT:,} submissions, {2 * SUBMIT:,} replays and {READ:,} other requests a minute",
    "queued tasks": f"{default(ApiKey, 'max_queued')} per key, {default(Account, 'max_queued')} per account",
    "running tasks": f"{default(ApiKey, 'max_running')} per key, {default(Account, 'max_running')} per account",
    "waiting": f"{waiting.LONGEST_SECONDS} seconds; {waiting.WAITS_PER_KEY} waits per key and web process",
    "pictures in one call": f"{image_calls.SYNC_SECONDS:g} seconds",
    "event streams": f"{hub.STREAMS_PER_KEY} per key and web process",
    "replay of events": f"{reader.REPLAY_SECONDS // 3600} hours, {reader.REPLAY_EVENTS:,} events",
    "heartbeat of a stream": f"{setting('SSE_HEARTBEAT')} seconds",
    "asset links, asset bytes, stored params": "{} hours, {} days, {} days".format(*LIFETIMES),
    "delivery log": f"the last {deliveries.LONGEST_LOG} attempts",
}


@pytest.mark.parametrize("what", LIMITS)
def test_a_limit_of_the_page_is_that_of_the_code(what):
    assert ROWS[what].startswith(LIMITS[what])
