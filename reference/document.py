"""Joins the OpenAPI document of the whole interface from the handwritten files of `reference/openapi/`.

`root.yaml` comes first. Every other file adds paths, webhooks and components with unique names. `declared` adds what
the code declares, and the fields of params come from their declarations (`reference/param_schemas.py`).
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from catalog.file.yaml_text import PlainDumper, StrictLoader
from common.version import version
from reference import declared, param_schemas

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "openapi"
SECTIONS = ("paths", "webhooks", "components")


class NameTaken(ValueError):
    """Two files define the same path, webhook or component, or a file has a section that belongs elsewhere."""


class DocumentDumper(PlainDumper):
    """Dumps texts of several lines as blocks, as they were written."""

    def represent_block(self, data: str) -> yaml.Node:
        if "\n" not in data:
            return self.represent_text(data)
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|")


DocumentDumper.add_representer(str, DocumentDumper.represent_block)


@cache
def document() -> dict[str, Any]:
    """Returns the joined document, in order of file names. Raises NameTaken."""
    files = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "root.yaml")
    found = joined([(path.name, read(path)) for path in (FOLDER / "root.yaml", *files)])
    found["info"] = {**found["info"], "version": version()}
    declared.fill(found)
    schemas = found["components"]["schemas"]
    schemas |= {name: param_schemas.filled(schema) for name, schema in schemas.items()}
    return found


def read(path: Path) -> dict[str, Any]:
    """Reads one file; dates stay texts, and duplicate fields are refused."""
    return dict(named(yaml.load(path.read_text(encoding="utf-8"), StrictLoader)))  # noqa: S506 - a SafeLoader


def named(value: Any) -> Any:
    """Converts names to texts, as in JSON. Raises ValueError for a name that YAML reads as something else."""
    if isinstance(value, dict):
        if odd := [name for name in value if type(name) not in (str, int)]:
            raise ValueError(f"{odd[0]!r} is not a name: put it in quotes")
        return {str(name): named(inner) for name, inner in value.items()}
    return [named(each) for each in value] if isinstance(value, list) else value


def joined(parts: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Joins the named parts; the first may have any field. Raises NameTaken."""
    (_, root), *others = parts
    whole: dict[str, Any] = {**root, **{section: {} for section in SECTIONS}}
    for name, part in [("root.yaml", {key: root[key] for key in root if key in SECTIONS}), *others]:
        if unknown := part.keys() - set(SECTIONS):
            raise NameTaken(f"{name}: {sorted(unknown)[0]} belongs in root.yaml")
        for place, key, value in entries(part):
            target = whole
            for step in place:
                target = target.setdefault(step, {})
            if key in target:
                raise NameTaken(f"{name}: {'.'.join((*place, key))} is already defined")
            target[key] = value
    return whole


def entries(part: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Yields what a file adds: location, name and value. Two files may define a path with different methods."""
    for path, methods in part.get("paths", {}).items():
        for method, operation in methods.items():
            yield ("paths", path), method, operation
    for name, webhook in part.get("webhooks", {}).items():
        yield ("webhooks",), name, webhook
    for kind, components in part.get("components", {}).items():
        for name, component in components.items():
            yield ("components", kind), name, component


@cache
def as_yaml() -> str:
    return yaml.dump(document(), Dumper=DocumentDumper, sort_keys=False, allow_unicode=True, width=120)


@cache
def as_json() -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False)
