"""Changelog, `releases.toml` and the history name the same releases."""

import re
import subprocess
import tomllib

import pytest

from common.version import version
from tools.name_release import written
from tools.stack import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
HEADINGS = re.findall(r"^## \[(.+)\](?: - (\d{4}-\d\d-\d\d))?$", CHANGELOG, re.MULTILINE)
RELEASES = tomllib.loads((ROOT / "releases.toml").read_text()).get("releases", [])
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_changelog_begins_with_what_is_unreleased_and_then_the_version_of_the_code():
    assert HEADINGS[0] == ("Unreleased", "")
    assert HEADINGS[1][0] == version()
    assert len(re.findall("^## ", CHANGELOG, re.MULTILINE)) == len(HEADINGS)
    assert set(re.findall("^### (.+)$", CHANGELOG, re.MULTILINE)) <= KINDS


def test_every_release_of_the_changelog_is_named_with_its_day_but_the_newest_may_wait():
    named = [(release["version"], str(release["day"])) for release in RELEASES]
    assert named in (HEADINGS[1:], HEADINGS[2:])


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release["version"])
def test_the_commit_of_a_release_is_one_of_this_history_and_carries_its_number(release):
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the whole history is not here")
    assert git("merge-base", "--is-ancestor", release["commit"], "HEAD").returncode == 0
    project = tomllib.loads(git("show", f"{release['commit']}:pyproject.toml").stdout)
    assert project["project"]["version"] == release["version"]


def test_the_file_is_as_the_tool_writes_it():
    assert (ROOT / "releases.toml").read_text() == written(RELEASES)
