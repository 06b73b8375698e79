"""Dependencies are few, explained and locked."""

import re
import tomllib

from tools.stack import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["s3"]]
DEVELOPMENT = PROJECT["dependency-groups"]["dev"]


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


def pins(lock: str) -> dict[str, set[str]]:
    """The pinned versions of each package: more than one where they depend on the Python version."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE):
        found.setdefault(name.lower(), set()).add(version)
    return found


def test_every_direct_dependency_has_its_reason_and_no_other_is_named():
    tables = [line for line in (ROOT / "docs/dependencies.md").read_text().splitlines() if line.startswith("|")]
    explained = re.findall(r"`([\w.-]+)(?:\[[\w,]+\])?`", "\n".join(tables))
    assert names(RUNTIME) | names(DEVELOPMENT) == {name for name in explained if name not in NOT_PACKAGES}


NOT_PACKAGES = {".env", "params_schema"}


def test_every_direct_dependency_is_locked():
    assert names(RUNTIME) <= pins("requirements.lock").keys()
    assert names(DEVELOPMENT) <= pins("requirements-dev.lock").keys()


def test_tests_run_on_the_versions_that_are_deployed():
    development = pins("requirements-dev.lock")
    assert {name: development.get(name) for name in pins("requirements.lock")} == pins("requirements.lock")


def test_every_pin_has_a_hash_and_none_an_address():
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text()
        entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
        assert all("--hash=sha256:" in entry for entry in entries), lock
        assert "://" not in text, lock
