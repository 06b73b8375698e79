"""The text of a catalog file: strict YAML in, with environment variables filled in; readable YAML out."""

import re
from collections.abc import Hashable, Mapping
from typing import Any

import yaml

from catalog.fields import FromEnvironment, Invalid, Problem, join

DEEPEST = 40
MOST_VALUES = 200_000  # an alias of YAML repeats what it stands for, and may do so for ever
# `$${` is a literal `${`; a `${` that is neither is a mistake.
VARIABLE = re.compile(r"\$(?:(\$\{)|\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|(\{))")

UNREAD = (
    "variables are filled in by load_catalog alone, which reads the server's environment: write the value in the place "
    "of ${{{name}}}, or leave credentials out to keep those that are stored"
)
UNUSUAL_BREAK = re.compile("[\x85\u2028\u2029]")
INTEGER = re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$")
FLOAT = re.compile(
    r"^(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?\.inf|\.nan)$"
)


class StrictLoader(yaml.SafeLoader):
    """Safe YAML without its traps: no field twice in a mapping, and `16:9` is text, not a number to the base 60."""

    merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merges of merges (`<<`) write out fields as aliases write out values: counted before that is done."""
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                parts = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                for part in (part for part in parts if isinstance(part, yaml.MappingNode)):
                    self.flatten_mapping(part)
                    self.merged += len(part.value)
                    if self.merged > MOST_VALUES:
                        raise Invalid(f"has more than {MOST_VALUES} values")
        super().flatten_mapping(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if isinstance(key, str) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", key_node.start_mark)
            seen.add(str(key))
        return super().construct_mapping(node, deep)


class PlainDumper(yaml.SafeDumper):
    """Without anchors, which nobody wants to read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, data: str) -> yaml.Node:
        """Within double quotes where it holds what YAML counts as a line break and would fold."""
        style = '"' if UNUSUAL_BREAK.search(data) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


PlainDumper.add_representer(str, PlainDumper.represent_text)
StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":int", ":float", ":timestamp"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for dialect in (StrictLoader, PlainDumper):
    dialect.add_implicit_resolver("tag:yaml.org,2002:int", INTEGER, list("-+0123456789"))
    dialect.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789."))


class NoEnvironment(dict[str, str]):
    """For a text from elsewhere: whoever wrote it may not read the environment of this process."""


def read(text: str, environment: Mapping[str, str]) -> tuple[Any, list[Problem]]:
    """The tree of a file, and a problem for each variable that is missing; in NoEnvironment for every one.

    Raises Invalid for broken YAML.
    """
    try:
        tree = yaml.load(text, StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        # The error's own text quotes the line, which may hold a credential.
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise Invalid(f"{line}{error.problem or 'is no valid YAML'}") from None
    except (yaml.YAMLError, ValueError):
        raise Invalid("is no valid YAML") from None
    except RecursionError:
        raise Invalid("is nested too deeply") from None
    _refuse_size(tree)
    problems: list[Problem] = []
    return _fill(tree, "", environment, problems), problems


def _refuse_size(tree: Any) -> None:
    """Raises Invalid where the tree has too many values once its aliases are written out."""
    left, count = [iter([tree])], 0
    while left and count <= MOST_VALUES:
        value = next(left[-1], left)
        if value is left:
            left.pop()
            continue
        count += 1
        if isinstance(value, dict | list) and len(left) <= DEEPEST + 1:
            left.append(iter(value.values() if isinstance(value, dict) else value))
    if left:
        raise Invalid(f"has more than {MOST_VALUES} values")


def _fill(value: Any, path: str, environment: Mapping[str, str], problems: list[Problem], depth: int = 0) -> Any:
    if depth > DEEPEST:
        problems.append((path, "is nested too deeply"))
        return None
    if isinstance(value, dict):
        return {key: _fill(item, join(path, str(key)), environment, problems, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, f"{path}[{i}]", environment, problems, depth + 1) for i, item in enumerate(value)]
    if isinstance(value, str) and "${" in value:
        return _substitute(value, path, environment, problems)
    return value


def _substitute(text: str, path: str, environment: Mapping[str, str], problems: list[Problem]) -> str:
    def replace(match: re.Match[str]) -> str:
        escaped, name, default, stray = match.groups()
        if escaped:
            return str(escaped)
        if stray:
            problems.append((path, "${ must be ${NAME}, ${NAME:-default} or, as text, $${"))
        elif isinstance(environment, NoEnvironment):
            problems.append((path, UNREAD.format(name=name)))
        elif default is not None:
            return environment.get(name) or str(default)
        elif name not in environment:
            problems.append((path, f"the environment variable {name} is not set"))
        return environment.get(name or "", "")

    filled = VARIABLE.sub(replace, text)
    return FromEnvironment(filled) if filled != text else text


def write(tree: Mapping[str, Any]) -> str:
    """YAML that `read` turns into the same tree."""
    return yaml.dump(_escaped(tree), Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=120)


def _escaped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value
