"""`make demo` and `make run` as a user meets them."""

import os
import re
import signal
import subprocess
import sys
from importlib import metadata

import pytest
import requests
from packaging.utils import canonicalize_name

from tests.processes import PATIENT
from tests.tooling.test_dependencies import pins
from tools import demo
from tools.children import PATIENCE, Child, free_port
from tools.stack import ROOT

ENVIRONMENT = {name: os.environ[name] for name in ("PATH", "SECRET_KEY", "ENCRYPTION_KEYS")} | PATIENT

WITHOUT_DEVELOPMENT = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {names!r} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""


def installed_for_development() -> set[str]:
    """The modules that packages of requirements-dev.lock alone bring."""
    service = pins("requirements.lock").keys() | {"pip", "setuptools"}
    return {
        module
        for module, packages in metadata.packages_distributions().items()
        if not {canonicalize_name(package) for package in packages} & service
    }


@pytest.fixture
def service_alone(tmp_path):
    """The environment of a process, and of all that it starts, that finds the service's own packages only."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_DEVELOPMENT.format(names=installed_for_development()))
    environment = {**ENVIRONMENT, "PYTHONPATH": str(folder)}
    refused = subprocess.run([sys.executable, "-c", "import pytest"], env=environment, capture_output=True, check=False)
    assert b"No module named 'pytest'" in refused.stderr
    return environment


@pytest.mark.parametrize(
    ("amount", "shown"), [(None, "–"), (0.04, "$0.0400"), (5, "$5.0000"), (0.00001, "$0.000010"), (0, "$0.0000")]
)
def test_the_demo_shows_amounts_to_the_last_millionth(amount, shown):
    assert demo.dollars(amount) == shown


@pytest.mark.slow
@pytest.mark.once
def test_the_demo_leaves_a_picture_a_film_and_a_confirmed_bill(tmp_path, service_alone):
    answer = subprocess.run(
        [sys.executable, "-m", "tools.demo", "--output", tmp_path],
        env=service_alone,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert (tmp_path / "image-0.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "video-0.mp4").read_bytes()[4:8] == b"ftyp"
    assert len(re.findall(r"event: succeeded", answer.stdout)) == 2
    assert len(re.findall(r"task\.succeeded, signature verified", answer.stdout)) == 2
    assert "check_ledger" in answer.stdout
    assert re.search(r"then open http://127\.0\.0\.1:\d+/console/\n$", answer.stdout)


@pytest.mark.slow
@pytest.mark.once
def test_the_service_runs_until_it_is_told_to_stop(tmp_path):
    port = str(free_port())
    environment = {
        **ENVIRONMENT,
        "PORT": port,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'run.sqlite3'}",
        "ASSET_STORAGE": f"file://{tmp_path / 'assets'}",
    }
    command = [sys.executable, "-m", "tools.run", "--folder", str(tmp_path), "--sandbox-port", "0"]
    run = Child("run", command, environment=environment, log=tmp_path / "run.log")
    try:
        told = run.wait_for_line(r"Console +(\S+)  .*\n  Task key +(\S+)")
        console, key = told[1], told[2]
        assert console == f"http://127.0.0.1:{port}/console/"
        with requests.Session() as browser:
            form = browser.get(console, timeout=PATIENCE)
            (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\S+?)"', form.text)
            given = {"key": key, "csrfmiddlewaretoken": token}
            signed_in = browser.post(form.url, given, headers={"Referer": form.url}, timeout=PATIENCE)
            assert "Sign out" in signed_in.text
        url, headers = f"http://127.0.0.1:{port}/v1/tasks/models", {"Authorization": f"Bearer {key}"}
        models = requests.get(url, headers=headers, timeout=PATIENCE)
        assert {model["modality"] for model in models.json()["data"]} >= {"image", "video"}
        for vendor, listed in (("OpenAI", "gpt-5.2"), ("Anthropic", "claude-sonnet-5"), ("Google", "gemini-3-flash")):
            general = run.wait_for_line(vendor + r" +(dr-gen-\S+)")[1]
            headers = {"Authorization": f"Bearer {general}"}
            shown = requests.get(f"http://127.0.0.1:{port}/v1/models", headers=headers, timeout=PATIENCE)
            assert listed in [model["id"] for model in shown.json()["data"]], vendor
        run.send(signal.SIGINT)
        assert run.wait() == 0
    finally:
        run.stop()


def test_a_demo_that_cannot_start_says_why_and_fails(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-m", "tools.demo", "--output", tmp_path],
        env={**ENVIRONMENT, "TASK_DEADLINES": "soon"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.returncode == 1
    assert "manage.py migrate ended with 1" in answer.stdout
    assert "TASK_DEADLINES: 'soon' is not" in answer.stdout
