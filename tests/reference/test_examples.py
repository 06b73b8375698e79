"""Every example of the document is what its schema says, and so is every JSON of our guides that belongs to one."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from reference.document import document
from tests.reference import places, validating
from tests.reference.places import Place
from tools.stack import ROOT

GUIDES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
# Names are shortened in the guides.
SHORTENED = re.compile(r"(task|video)_[0-9a-z]*…[0-9a-z]*")
SENT = re.compile(r"""(-d|--data\S*) ['"]?\Z""")
WHOLE = r"\1_01k5q8z3v7h2m4n6p8r0s2t4w6"


def examples(*names: str) -> Iterator[tuple[Place, Any, str]]:
    """Schema, example and where it is: of media types, parameters and headers, and of schemas themselves."""
    value = raw(*names)
    where = "/".join(names)
    if isinstance(value, dict) and "schema" in value:
        schema = places.at(*names, "schema")
        if "example" in value:
            yield schema, value["example"], where
        for name in value.get("examples", {}):
            yield schema, places.at(*names, "examples", name).value["value"], f"{where}/{name}"
    if names[:2] == ("components", "schemas") and len(names) == 3:
        for example in value.get("examples", []):
            yield places.at(*names), example, where
    steps = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in map(str, steps):
        if step not in ("example", "examples", "schema"):
            yield from examples(*names, step)


def raw(*names: str) -> Any:
    """What stands there, be it a reference."""
    value: Any = document()
    for name in names:
        value = value[int(name) if isinstance(value, list) else name]
    return value


EXAMPLES = [found for section in ("paths", "webhooks", "components") for found in examples(section)]


def test_every_example_is_what_its_schema_says():
    wrong = [
        f"{where}: {error.json_path}: {error.message}"
        for schema, value, where in EXAMPLES
        for error in validating.errors(schema, value)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_operation_has_an_example_of_its_request_and_its_answer():
    for method, path, operation in places.operations():
        described = [operation["responses"][status] for status in operation.value["responses"]]
        bodies = [response["content"] for response in described if "content" in response]
        if "requestBody" in operation:
            bodies.append(operation["requestBody"]["content"])
        for content in bodies:
            for media_type in content.value:
                if media_type in ("application/json", "text/event-stream"):
                    media = content[media_type].value
                    assert "example" in media or media.get("examples"), f"{method} {path} {media_type}"


def told(block: str, at: int, value: dict[str, Any]) -> Place | None:
    """The schema that a JSON object of a guide belongs to, where it can be told: by the path of the request before it
    in its block, or by its fields."""
    schemas = document()["components"]["schemas"]
    if SENT.search(block[:at]) and (request := asked(block[:at])):
        return request
    if {"model", "params"} <= value.keys():
        return places.at("components", "schemas", "TaskRequest")
    for name in ANSWERS:
        if value.keys() == set(schemas[name]["required"]):
            return places.at("components", "schemas", name)
    return None


ANSWERS = ("Submission", "Task", "Quote", "Trace", "ModelList", "TaskUsage", "TaskEvent", "DeliveryLog", "Error")


def asked(before: str) -> Place | None:
    """The JSON body of the POST whose address stands last."""
    found = {}
    for path in document()["paths"]:
        if "post" in document()["paths"][path] and "{" not in path:
            tail = re.escape(path.removeprefix("/v1"))
            found |= {match.start(): path for match in re.finditer(rf"(?:/v1|BASE_URL){tail}(?![\w/])", before)}
    if not found:
        return None
    operation = places.operation("POST", found[max(found)])
    content = operation["requestBody"]["content"] if "requestBody" in operation else {}
    return content["application/json"]["schema"] if "application/json" in content else None


def objects(text: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Each JSON object of the code blocks of a guide: its block, its place there, and itself."""
    for block in BLOCK.findall(SHORTENED.sub(WHOLE, text)):
        at = 0
        while (at := block.find("{", at)) >= 0:
            try:
                value, end = json.JSONDecoder().raw_decode(block, at)
            except ValueError:
                at += 1
                continue
            if value:
                yield block, at, value
            at = end


TOLD = [
    pytest.param(schema, value, id=f"{guide.name}-{n}")
    for guide in GUIDES
    for n, (block, at, value) in enumerate(objects(guide.read_text(encoding="utf-8")))
    if (schema := told(block, at, value))
]


def test_most_objects_of_the_guides_are_told():
    names = {schema.names[-1] for schema, _ in (each.values for each in TOLD)}
    assert {"TaskRequest", "Submission", "Quote", "Trace", "ModelList", "DeliveryLog", "Error"} <= names


@pytest.mark.parametrize(("schema", "value"), TOLD)
def test_the_guides_show_what_the_document_says(schema, value):
    validating.valid(schema, value)
