"""A class name of the product stands once, so that a reader who meets it needs no path."""

import ast
from collections import defaultdict
from pathlib import Path

from tools.stack import ROOT

ROOMS = (
    "accounts",
    "adapters",
    "billing",
    "callbacks",
    "catalog",
    "common",
    "config",
    "console",
    "desk",
    "front",
    "reference",
    "storage",
)
MANY = {"Command"}  # what Django looks for in each command's module


def test_no_class_name_of_the_product_stands_twice() -> None:
    places = defaultdict(list)
    for path in (
        path for room in (*ROOMS, "relay", "tasks", "tasks_api", "worker") for path in (ROOT / room).rglob("*.py")
    ):
        if "migrations" not in path.parts:
            for name in top_level_classes(path):
                places[name].append(str(path.relative_to(ROOT)))
    assert len(places) > 200
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in MANY} == {}


def top_level_classes(path: Path) -> list[str]:
    """Inner ones are named with their owner: `Hold.State`."""
    return [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
