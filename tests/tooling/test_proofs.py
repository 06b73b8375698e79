"""The tables of tests/proofs.md and docs/security.md name tests that exist; the first has every rule."""

import ast
import re
from functools import cache

from tools.stack import ROOT

NAMED = re.compile(r"`((?:[a-z_]+/)+test_[a-z0-9_]+\.py)::(test_[a-z0-9_]+)`")
DOCUMENT = (ROOT / "tests" / "proofs.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in DOCUMENT.splitlines()
    if re.match(r"\| \d", line)
]


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_table_covers_the_interface_section_by_section():
    numbers = [tuple(map(int, row[0].split("."))) for row in ROWS]
    assert numbers == sorted(set(numbers))
    assert {number[0] for number in numbers} == set(range(1, 23))


def test_every_rule_names_its_tests():
    for number, _, proof in ROWS:
        assert NAMED.sub("", proof).strip(", ") == "", number
        assert NAMED.findall(proof), number


def test_every_test_that_a_rule_names_exists():
    named = [(number, file, name) for number, _, proof in ROWS for file, name in NAMED.findall(proof)]
    assert [f"{number} {file}::{name}" for number, file, name in named if name not in functions_of(file)] == []


def test_every_test_that_a_limit_names_exists():
    document = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    files = set(re.findall(r"`((?:[a-z_]+/)+test_[a-z0-9_]+\.py)[`:]", document))
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).exists()] == []
    named = [(file.removeprefix("tests/"), name) for file, name in NAMED.findall(document)]
    assert [f"{file}::{name}" for file, name in named if name not in functions_of(file)] == []
