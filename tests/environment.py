"""The environment of the tests, set before Django reads its settings; loaded by `-p tests.environment`."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

SCRATCH = Path(tempfile.mkdtemp(prefix="darkroom-tests-"))
EXAMPLE = Path(__file__).resolve().parent.parent / ".env.example"

os.environ.setdefault("DATABASE_URL", f"sqlite:///{SCRATCH / 'darkroom.sqlite3'}")
# A developer's own .env must not change the tests: every setting that has a fixed default is set to it.
for name, default in re.findall(r"^#?([A-Z_]+)=(.+)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE):
    if name != "DATABASE_URL":
        os.environ[name] = default
os.environ.update(
    SECRET_KEY="k9Zr4vQ0pX7mB2sT8wY1nC6dF3gH5jL0aEoUiRtyWqPzMxVbN4s7",
    ENCRYPTION_KEYS="c2l4dGVlbi1ieXRlcy1vZi1hLXRlc3Qta2V5LTMyISE=",
    DEBUG="false",
    ASSET_STORAGE=f"file://{SCRATCH / 'assets'}",
    PUBLIC_BASE_URL="https://api.ours.example",
    ALLOWED_HOSTS="testserver,127.0.0.1,localhost,api.ours.example",
    OUTBOUND_DENY_NETWORKS="198.41.0.99/32",
    OUTBOUND_ALLOW_NETWORKS="",
    METRICS_TOKEN="",
    RATE_LIMITS="off",
)


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)
