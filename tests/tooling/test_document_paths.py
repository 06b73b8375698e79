"""A path that a document names exists, and so does what it says is in it."""

import re
import subprocess
import tomllib
from pathlib import Path

from tools.stack import ROOT

DOCUMENTS = [
    "README.md",
    "worker/README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md")),
]
PATH = re.compile(r"`((?:\.?[A-Za-z_-]+/)+[A-Za-z_.-]+\.(?:py|md|yaml|yml|toml|jsonl|mjs|sh))`(?: · `([a-z_]+)`)?")
MAP = (ROOT / "ARCHITECTURE.md").read_text()
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
MODULES = {path.relative_to(ROOT): path.read_text() for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
FOLDER = re.compile(r"`((?:[a-z_]+/)+)`")
STEP = re.compile(r'"""Step (\S+?)[:, ]')
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")
PICTURE = re.compile(r"""<img src="([^"]+)"|!\[[^]]*\]\(([^)]+)\)""")
TARGET = re.compile(r"`?make ([a-z-]+)`")


def test_every_named_path_and_function_exists():
    for document in DOCUMENTS:
        for path, function in PATH.findall((ROOT / document).read_text()):
            assert (ROOT / path).exists(), (document, path)
            assert not function or re.search(rf"def {function}\b", (ROOT / path).read_text()), (document, function)


def test_every_named_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        assert set(TARGET.findall((ROOT / document).read_text())) <= targets, document


def test_the_map_names_a_file_for_every_step_and_a_module_knows_its_own():
    steps = dict(re.findall(r"^\| (\d+) \| (.*) \|$", MAP, re.MULTILINE))
    assert list(steps) == [str(number) for number in range(15)]
    assert all(PATH.search(row) for row in steps.values())
    for path, module in MODULES.items():
        for number in STEP.findall(module):
            assert f"`{path}`" in steps.get(number, ""), f"{path} says that it is step {number}"


def test_the_map_has_every_room_and_no_other():
    rooms = {f"{path.parent}/" for path in MODULES if not {"migrations", "management"} & set(path.parts)}
    named = set(FOLDER.findall(MAP))
    assert all((ROOT / folder).is_dir() for folder in named)
    assert {room for room in rooms if not room.startswith(("adapters/", "sandbox/"))} <= named


def test_every_link_leads_to_a_file_and_a_heading():
    for document in DOCUMENTS:
        for target, anchor in LINK.findall((ROOT / document).read_text()):
            found = (ROOT / document).parent / target if target else ROOT / document
            assert found.exists(), (document, target)
            assert not anchor or anchor in anchors(found), (document, anchor)


def test_the_repository_holds_the_pictures_that_its_documents_show_and_they_are_few():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    names = [name for name in listed.split("\0") if name.endswith((".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp"))]
    kept = {ROOT / name for name in names if not name.startswith(("tests/", "pages/static/"))}
    shown = {
        ((ROOT / document).parent / "".join(target)).resolve()
        for document in DOCUMENTS
        for target in PICTURE.findall((ROOT / document).read_text())
    }
    assert shown == {path for path in kept if path.exists()}
    assert len(shown) <= 20


def anchors(document: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
