"""`make sdks`: the same calls with other majors of the vendors' packages, with their siblings of npm, and with a client
that is generated from the document.

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
TEXT_MAJORS = {
    "openai==1.109.1": "text_openai",
    "anthropic==0.125.0": "text_anthropic",
    "anthropic==2.14.0": "text_anthropic",
    "google-genai==1.75.0": "text_google",
}
NPM = ("openai@6.49.0", "@anthropic-ai/sdk@1.11.0", "@google/genai@2.32.0")
GENERATOR = "openapi-python-client==0.29.1"
LONGEST_INSTALL = 300


@pytest.fixture(scope="session")
def node_folder() -> Path:
    """A folder with the packages of npm; programs that stand in it find them."""
    if missing := [program for program in ("node", "npm") if not shutil.which(program)]:
        pytest.skip(f"the SDKs for JavaScript need {' and '.join(missing)}, which is not installed")
    folder = peers.FOLDER / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", *NPM]
    subprocess.run(install, cwd=folder, check=True, timeout=LONGEST_INSTALL)
    return folder


def told(lines: list[str]) -> None:
    print("\n".join(lines))  # noqa: T201


@pytest.mark.parametrize("major", MAJORS)
def test_another_major_makes_the_same_calls(shop, major):
    python = peers.python(major.replace("==", "-"), major)
    told(run(ROOT, shop.task_environment, python, "-m", "tests.sdks.calls"))


@pytest.mark.parametrize("major", TEXT_MAJORS)
def test_another_major_makes_the_same_calls_for_text(shop, major):
    python = peers.python(major.replace("==", "-"), major)
    told(run(ROOT, shop.place.environment, python, "-m", f"tests.sdks.{TEXT_MAJORS[major]}"))


def test_the_sibling_of_npm_makes_the_same_calls(shop, node_folder):
    shutil.copy(HERE / "calls.mjs", node_folder)
    told(run(node_folder, shop.task_environment, "node", "calls.mjs"))


def test_the_siblings_of_npm_make_the_same_calls_for_text(shop, node_folder):
    shutil.copy(HERE / "text.mjs", node_folder)
    told(run(node_folder, shop.place.environment, "node", "text.mjs"))


def test_the_program_of_the_page_in_javascript_saves_its_files(shop, node_folder):
    document.saves_its_files(shop, node_folder, "node", "studio.mjs")


def test_a_client_that_is_generated_from_the_document_makes_the_calls(shop, tmp_path):
    python = peers.python("openapi-python-client", GENERATOR)
    package = ("--output-path", str(tmp_path / "generated"), "--meta", "none")
    document = ("--path", str(ROOT / "docs" / "openapi.yaml"))
    said = run(tmp_path, {}, python, "-m", "openapi_python_client", "generate", *document, *package)
    assert not [line for line in said if "Unable" in line or "WARNING" in line]
    environment = {**shop.place.environment, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    told(run(tmp_path, environment, python, HERE / "generated_calls.py"))
