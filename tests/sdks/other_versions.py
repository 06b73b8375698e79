"""`make sdks`: the same calls with other majors of the package openai, and with its sibling of npm.

Each is installed into an environment of its own when it is first needed. No suite collects this file by itself,
because it needs the registries of both languages.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from bench import peers
from tests.sdks import document
from tests.sdks.programs import run
from tools.stack import ROOT

HERE = ROOT / "tests" / "sdks"
MAJORS = ("openai==1.109.1", "openai==2.54.0")
NPM = "openai@6.49.0"
LONGEST_INSTALL = 300


@pytest.fixture(scope="session")
def node_folder() -> Path:
    """A folder with the package of npm; programs that stand in it find it."""
    if missing := [program for program in ("node", "npm") if not shutil.which(program)]:
        pytest.skip(f"the SDK for JavaScript needs {' and '.join(missing)}, which is not installed")
    folder = peers.FOLDER / "openai-npm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", NPM]
    subprocess.run(install, cwd=folder, check=True, timeout=LONGEST_INSTALL)
    return folder


@pytest.mark.parametrize("major", MAJORS)
def test_another_major_makes_the_same_calls(shop, tmp_path, major):
    python = peers.python(major.replace("==", "-"), major)
    print("\n".join(run(shop, tmp_path, python, HERE / "calls.py")))  # noqa: T201


def test_the_sibling_of_npm_makes_the_same_calls(shop, node_folder):
    shutil.copy(HERE / "calls.mjs", node_folder)
    print("\n".join(run(shop, node_folder, "node", "calls.mjs")))  # noqa: T201


def test_the_program_of_the_page_in_javascript_saves_its_files(shop, node_folder):
    document.saves_its_files(shop, node_folder, "node", "studio.mjs")
