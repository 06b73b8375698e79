"""`python -m tools.name_release`: names the commit that is checked out as that of the version in `pyproject.toml`.

It writes the release at the top of `releases.toml`, in place of an entry of the same version; the day is the one in the
changelog. A commit cannot name its own hash, so this is a commit of its own, after the release (docs/releasing.md).
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from common.version import version
from tools.stack import ROOT

FILE = ROOT / "releases.toml"
HEAD = "# Every release, newest first. docs/releasing.md says when one is added and which commit it names.\n"
ENTRY = '\n[[releases]]\nversion = "{version}"\nday = {day}\ncommit = "{commit}"\n'


def written(releases: Sequence[Mapping[str, Any]]) -> str:
    """The file's text."""
    return HEAD + "".join(ENTRY.format(**release) for release in releases)


def main() -> int:
    day = re.search(rf"^## \[{re.escape(version())}\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if day is None:
        print(f"CHANGELOG.md has no heading of {version()}", file=sys.stderr)
        return 1
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    others = [each for each in tomllib.loads(FILE.read_text()).get("releases", []) if each["version"] != version()]
    FILE.write_text(written([{"version": version(), "day": day[1], "commit": commit.stdout.strip()}, *others]))
    print(f"{version()} is {commit.stdout.strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
