"""The settings, their example file and their table say the same."""

import json
import os
import re
import subprocess
import sys
import tomllib
from typing import Any

import yaml

from common import modalities
from config import declared
from tools.children import PATIENCE
from tools.stack import ROOT

SETTINGS = (ROOT / "config/settings.py").read_text()
EXAMPLE = (ROOT / ".env.example").read_text()
READ = set(re.findall(r"\b(?:env\.\w+|secret|networks|text|whole)\(\s*\"([A-Z_]+)\"", SETTINGS))
DEFAULTS = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
SHOW = """
import json, os, runpy, sys
import environ
from django.core.exceptions import ImproperlyConfigured

environ.Env.read_env = lambda path: None

def text(value):
    return str(sorted(value.items()) if isinstance(value, dict) else value)

def shown(environment, names):
    os.environ.clear()
    os.environ.update(environment)
    try:
        settings = runpy.run_path("config/settings.py")
    except ImproperlyConfigured as error:
        return str(error)
    return {name: text(settings[name]) for name in names}

print(json.dumps([shown(*asked) for asked in json.load(sys.stdin)]))
"""


def settings_with(*asked: tuple[dict[str, str], list[str]]) -> list[Any]:
    """What each environment, without a .env, makes of the names, or why it is refused. DEBUG needs no secrets."""
    answer = subprocess.run(
        [sys.executable, "-c", SHOW],
        input=json.dumps(
            [({"DATABASE_URL": "sqlite://:memory:", **environment}, names) for environment, names in asked]
        ),
        env={},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return list(json.loads(answer.stdout))


def test_the_example_names_every_setting_and_no_other():
    assert set(DEFAULTS) == READ


def test_every_setting_that_is_read_is_declared_and_no_other():
    assert {setting.name for setting in declared.TABLE} == READ
    assert len(declared.TABLE) == len(READ)


def test_the_compose_file_passes_settings_alone():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    passed = {name for service in ("migrate", "web", "worker") for name in services[service]["environment"]}
    assert passed - READ == {"TMPDIR"}


def test_the_operations_table_names_every_setting_and_no_other():
    table = (ROOT / "docs/operations.md").read_text()
    assert set(re.findall(r"^\| *`([A-Z_]+)` *\|", table, re.MULTILINE)) == READ


def test_the_defaults_of_the_example_are_those_of_the_settings():
    stated = {name: value for name, value in DEFAULTS.items() if value}
    names = sorted(stated)
    assert len(names) > 10
    of_example, of_settings = settings_with((secrets() | stated, names), (secrets(), names))
    assert of_example == of_settings


def secrets() -> dict[str, str]:
    return {name: os.environ[name] for name in ("SECRET_KEY", "ENCRYPTION_KEYS")}


def test_debug_lets_missing_weak_and_known_secrets_pass():
    (known,) = settings_with(({"DEBUG": "true"}, ["SECRET_KEY", "DEVELOPMENT_ENCRYPTION_KEY"]))
    published = {"SECRET_KEY": known["SECRET_KEY"], "ENCRYPTION_KEYS": known["DEVELOPMENT_ENCRYPTION_KEY"]}
    bad = [{"SECRET_KEY": "short"}, *({name: value} for name in secrets() for value in ("", published[name]))]
    refused = settings_with(*((secrets() | change, []) for change in bad))
    assert all(reason.startswith(next(iter(change))) for reason, change in zip(refused, bad, strict=True))
    assert settings_with(*((secrets() | change | {"DEBUG": "true"}, []) for change in bad)) == [{}] * len(bad)


def test_debug_changes_no_other_setting():
    names = sorted(set(re.findall(r"^([A-Z_]+) = ", SETTINGS, re.MULTILINE)))
    on, off = settings_with((secrets() | {"DEBUG": "true"}, names), (secrets(), names))
    assert {name for name in names if on[name] != off[name]} == {"DEVELOPMENT"}
    assert on["DEBUG"] == "False"


def test_the_documents_say_the_same_of_debug():
    table = (ROOT / "docs/operations.md").read_text()
    for document in (EXAMPLE, table):
        assert "with missing, weak or publicly known secrets" in document


def test_every_setting_is_explained_in_the_line_above_it():
    for name in DEFAULTS:
        above = EXAMPLE[: re.search(rf"^#?{name}=", EXAMPLE, re.MULTILINE).start()].rstrip("\n").splitlines()[-1]
        assert above.startswith(("# ", "#HOST=")), name


def test_no_other_module_reads_the_environment():
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    readers = {str(path.relative_to(ROOT)) for path in sources if re.search(r"os\.(environ|getenv)", path.read_text())}
    assert readers <= {
        "catalog/file/load.py",  # fills in a catalog file's ${NAME}
        "front/application.py",  # these name the settings module
        "front/django_application.py",
        "console/create/snippets.py",  # programs of customers do
        "config/gunicorn.py",  # gunicorn's own WEB_CONCURRENCY
        "desk/management/commands/verify_callback.py",  # a secret to check a signature with
    }


BAD = [
    ("PORT", "abc"),
    ("PORT", "65536"),
    ("ASSET_URL_TTL", "0"),
    ("ASSET_ACCEL", "internal/"),
    ("ASSET_ACCEL", "/internal"),
    ("ASSET_ACCEL", "/"),
    ("ASSET_ACCEL", "//internal/"),
    ("ASSET_ACCEL", "/../internal/"),
    ("ASSET_ACCEL", "/files here/"),
    ("ASSET_ACCEL", "http://127.0.0.1/internal/"),
    ("ASSET_RETENTION", "-1"),
    ("PAYLOAD_RETENTION", "1d"),
    ("MAX_REQUEST_BYTES", "32MB"),
    ("MAX_CONNECTIONS", "0"),
    ("SSE_HEARTBEAT", "1.5"),
    ("WORKER_LEASE", "0"),
    ("WORKER_GRACE", "²"),
    ("TASK_DEADLINES", "queue=²"),
    ("TASK_DEADLINES", "queue=99999999999999999999"),
    ("TASK_DEADLINES", "image=60,smell=60"),
    ("TASK_DEADLINES", "image=0"),
    ("TASK_DEADLINES", "image=-1"),
    ("TASK_DEADLINES", "image=soon"),
    ("TASK_DEADLINES", "image="),
    ("TASK_DEADLINES", "image"),
    ("RATE_LIMITS", "submit=²/min"),
    ("PUBLIC_BASE_URL", "api.ours.example"),
    ("PUBLIC_BASE_URL", "https://api.ours.example/a@b"),
    ("ASSET_STORAGE", "file://var/assets"),
    ("DATABASE_URL", "nonsense"),
    ("DATABASE_URL", "mysql://user:hunter2@host/name"),
    ("DATABASE_URL", "postgresql://user:hunter2@host:port/name"),
    ("DATABASE_URL", "postgresql://user:hunter2@host"),
]


def test_a_bad_value_names_its_setting_and_no_password():
    reasons = settings_with(*(({"DEBUG": "true", name: value}, []) for name, value in BAD))
    for (name, value), reason in zip(BAD, reasons, strict=True):
        assert str(reason).startswith(f"{name}: "), value
        assert "hunter2" not in reason, value


def test_only_the_files_of_a_folder_are_left_to_the_proxy():
    bucket = {"DEBUG": "true", "ASSET_STORAGE": "s3://bucket"}
    taken, refused = settings_with(
        ({"DEBUG": "true", "ASSET_ACCEL": "/files/of-ours/"}, ["ASSET_ACCEL"]),
        (bucket | {"ASSET_ACCEL": "/internal/"}, []),
    )
    assert taken == {"ASSET_ACCEL": "/files/of-ours/"}
    assert str(refused).startswith("ASSET_ACCEL: ")


def test_an_empty_value_is_the_default():
    names = sorted({*DEFAULTS} - {"DATABASE_URL"})
    unset = {"DEBUG": "true", "DATABASE_URL": ""}
    empty = dict.fromkeys(DEFAULTS, "") | {"DEBUG": "true"}
    of_empty, of_unset = settings_with((empty, names), (unset, names))
    assert of_empty == of_unset


def test_a_deadline_that_is_not_named_keeps_its_default():
    usual = {"queue": 86_400} | {modality.name: modality.deadline_seconds for modality in modalities.TABLE}
    given = [{"DEBUG": "true", "TASK_DEADLINES": text} for text in ("image=60", " video=5 , queue=7 ", "")]
    shown = settings_with(*((environment, ["TASK_DEADLINES"]) for environment in given))
    changes: list[dict[str, int]] = [{"image": 60}, {"video": 5, "queue": 7}, {}]
    wanted = [str(sorted((usual | change).items())) for change in changes]
    assert [answer["TASK_DEADLINES"] for answer in shown] == wanted


def test_the_parts_of_a_list_may_stand_apart_and_a_value_may_begin_with_a_dollar_sign():
    given = {"DEBUG": "true", "ALLOWED_HOSTS": "one.example, two.example,", "METRICS_TOKEN": "$token"}
    (shown,) = settings_with((given, ["ALLOWED_HOSTS", "METRICS_TOKEN"]))
    assert shown == {"ALLOWED_HOSTS": "['one.example', 'two.example']", "METRICS_TOKEN": "$token"}
