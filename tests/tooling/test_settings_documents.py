"""The settings, their example file and their table say the same."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from tools.stack import ROOT

SETTINGS = (ROOT / "config/settings.py").read_text()
EXAMPLE = (ROOT / ".env.example").read_text()
READ = set(re.findall(r"\b(?:env\.\w+|secret|networks|text|whole)\(\s*\"([A-Z_]+)\"", SETTINGS))
DEFAULTS = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
SHOW = """
import json
import environ
environ.Env.read_env = lambda path: None
from django.conf import settings
def text(value):
    return sorted(value.items()) if isinstance(value, dict) else str(value)
print(json.dumps({name: text(getattr(settings, name)) for name in %r}))
"""


def settings_with(environment: dict[str, str], names: list[str]) -> str:
    """What a process with exactly this environment and no .env reads; DEBUG lets the secrets be absent."""
    answer = subprocess.run(
        [sys.executable, "-c", SHOW % names],
        env={"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": "sqlite://:memory:", **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout


def test_the_example_names_every_setting_and_no_other():
    assert set(DEFAULTS) == READ


def test_the_operations_table_names_every_setting_and_no_other():
    table = (ROOT / "docs/operations.md").read_text()
    assert set(re.findall(r"^\| *`([A-Z_]+)` *\|", table, re.MULTILINE)) == READ


def test_the_defaults_of_the_example_are_those_of_the_settings():
    stated = {name: value for name, value in DEFAULTS.items() if value}
    names = sorted(stated)
    secrets = {name: os.environ[name] for name in ("SECRET_KEY", "ENCRYPTION_KEYS")}
    assert len(names) > 10
    assert settings_with({**secrets, **stated}, names) == settings_with(secrets, names)


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_every_setting_is_explained_in_the_line_above_it(name):
    above = EXAMPLE[: re.search(rf"^#?{name}=", EXAMPLE, re.MULTILINE).start()].rstrip("\n").splitlines()[-1]
    assert above.startswith(("# ", "#HOST="))


def test_no_other_module_reads_the_environment():
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    readers = {str(path.relative_to(ROOT)) for path in sources if re.search(r"os\.(environ|getenv)", path.read_text())}
    assert readers <= {
        "catalog/file.py",  # fills in a catalog file's ${NAME}
        "config/asgi.py",  # these name the settings module
        "config/wsgi.py",
        "config/gunicorn.py",  # gunicorn's own WEB_CONCURRENCY
        "desk/management/commands/verify_callback.py",  # a secret to check a signature with
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "abc"),
        ("PORT", "65536"),
        ("ASSET_URL_TTL", "0"),
        ("ASSET_RETENTION", "-1"),
        ("PAYLOAD_RETENTION", "1d"),
        ("MAX_REQUEST_BYTES", "32MB"),
        ("SSE_HEARTBEAT", "1.5"),
        ("WORKER_LEASE", "0"),
        ("WORKER_GRACE", "²"),
        ("TASK_DEADLINES", "queue=²"),
        ("TASK_DEADLINES", "queue=99999999999999999999"),
        ("RATE_LIMITS", "submit=²/min"),
        ("PUBLIC_BASE_URL", "api.ours.example"),
        ("ASSET_STORAGE", "file://var/assets"),
        ("DATABASE_URL", "nonsense"),
        ("DATABASE_URL", "mysql://user:hunter2@host/name"),
        ("DATABASE_URL", "postgresql://user:hunter2@host:port/name"),
        ("DATABASE_URL", "postgresql://user:hunter2@host"),
    ],
)
def test_a_bad_value_names_its_setting_and_no_password(name, value):
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        settings_with({"DEBUG": "true", name: value}, [name])
    reason = refusal.value.stderr.splitlines()[-1]
    assert reason.startswith(f"django.core.exceptions.ImproperlyConfigured: {name}: ")
    assert "hunter2" not in reason


def test_an_empty_value_is_the_default():
    names = sorted({*DEFAULTS} - {"DATABASE_URL"})
    unset = {"DEBUG": "true", "DATABASE_URL": ""}
    empty = dict.fromkeys(DEFAULTS, "") | {"DEBUG": "true"}
    assert settings_with(empty, names) == settings_with(unset, names)


def test_a_value_that_begins_with_a_dollar_sign_is_that_value():
    shown = settings_with({"DEBUG": "true", "METRICS_TOKEN": "$token"}, ["METRICS_TOKEN"])
    assert json.loads(shown) == {"METRICS_TOKEN": "$token"}


def test_the_parts_of_a_list_may_stand_apart():
    shown = settings_with({"DEBUG": "true", "ALLOWED_HOSTS": "one.example, two.example,"}, ["ALLOWED_HOSTS"])
    assert json.loads(shown) == {"ALLOWED_HOSTS": "['one.example', 'two.example']"}
