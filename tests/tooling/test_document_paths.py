"""A path that a document names exists, and so does what it says is in it."""

import re

from tools.stack import ROOT

DOCUMENTS = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md")),
]
PATH = re.compile(r"`((?:\.?[A-Za-z_-]+/)+[A-Za-z_.-]+\.(?:py|md|yaml|yml|toml|jsonl|mjs|sh))`(?: · `([a-z_]+)`)?")
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


def test_the_map_names_a_file_for_every_step():
    steps = re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    assert [number for number, _ in steps] == [str(number) for number in range(12)]
    assert all(PATH.search(row) for _, row in steps)
