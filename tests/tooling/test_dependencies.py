"""Dependencies are few, explained and locked."""

import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.stack import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["s3"]]
DEVELOPMENT = PROJECT["dependency-groups"]["dev"]


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


def pins(lock: str) -> dict[str, set[str]]:
    """The pinned versions of each package: more than one where they depend on the Python version."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[.+\])?==(\S+)", (ROOT / lock).read_text(), re.MULTILINE):
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


def test_the_service_stands_on_few_packages():
    """`make demo` and `make run` install these, and a newcomer waits for them."""
    assert len(pins("requirements.lock")) <= 60


def test_every_pin_has_a_hash_and_none_an_address():
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text()
        entries = re.split(r"^(?=[\w.-]+(?:\[.+\])?==)", text, flags=re.MULTILINE)[1:]
        assert all("--hash=sha256:" in entry for entry in entries), lock
        assert "://" not in text, lock


def test_a_pin_names_every_extra_that_another_package_asks_for():
    """pip takes the newest release of `name[extra]` where only `name` is pinned, and then misses its hash."""
    lock = (ROOT / "requirements-dev.lock").read_text()
    pinned = [Requirement(line.strip(" \\")) for line in re.findall(r"^[\w.-]+.*==.+", lock, re.MULTILINE)]
    extras = {canonicalize_name(pin.name): pin.extras for pin in pinned}
    asked = [wish for pin in pinned for wish in installed_wishes(pin) if wish.extras]
    assert "google-auth" in {wish.name for wish in asked}
    assert [str(wish) for wish in asked if not wish.extras <= extras[canonicalize_name(wish.name)]] == []


def installed_wishes(pin: Requirement) -> list[Requirement]:
    """What a pinned package that this Python needs asks for here, by its own metadata."""
    if pin.marker and not pin.marker.evaluate():
        return []
    wishes = [Requirement(text) for text in metadata.requires(pin.name) or []]
    wanted = pin.extras or {""}
    return [
        wish for wish in wishes if not wish.marker or any(wish.marker.evaluate({"extra": extra}) for extra in wanted)
    ]
