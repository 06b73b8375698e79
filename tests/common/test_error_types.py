"""A type of error is declared once: classes, documents and pages take it from there."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from common import error_types, errors
from common.error_types import BY_NAME, FAILURES, REFUSALS, TABLE
from common.errors import ApiError
from common.http import dialects
from reference.document import document
from tasks import failures
from tasks.failures import Failure
from tests.reference.places import Place, operations
from tools.stack import ROOT

CODE = re.compile(r"\bTASK_[A-Z_]*[A-Z]\b")
SETTINGS = {"TASK_API_KEY", "TASK_DEADLINES"}
DOCUMENTS = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("reference/openapi/*.yaml"), ROOT / "README.md"]

PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
FILES = [
    path
    for folder in (*PACKAGES, "templates")
    if folder != "sandbox"
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".html", ".js")
]


def classes(base: type[ApiError] = ApiError) -> Iterator[type[ApiError]]:
    for each in base.__subclasses__():
        yield each
        yield from classes(each)


FIXED = [each for each in classes() if hasattr(each, "type") and each.__module__ == errors.__name__]
VENDORS = [each for each in FIXED if each.type not in BY_NAME]


def test_each_type_is_declared_once():
    assert len(BY_NAME) == len(TABLE) > 30
    assert all(each.statuses and each.next_step for each in REFUSALS)
    assert {each for each in TABLE if each.of_task} == set(FAILURES)


def test_every_refusal_has_a_class_with_its_type_and_status():
    found = {each.type: each.status for each in FIXED if each not in VENDORS}
    assert found == {each.name: each.statuses[0] for each in (*REFUSALS, error_types.TIMEOUT)}


def test_no_other_module_has_a_class_with_a_type_of_its_own():
    typed = re.compile(r"^class \w+\(ApiError\b|^    type, status = |\bof=error_types\.", re.MULTILINE)
    assert {path for path in FILES if path.suffix == ".py" and typed.search(path.read_text())} == {
        Path(errors.__file__)
    }


def test_tasks_fail_with_the_declared_types_and_no_other():
    found = [each for each in vars(failures).values() if isinstance(each, Failure)]
    assert {each.type for each in (*found, *failures.OF_KIND.values())} == {each.name for each in FAILURES}


def test_every_type_that_a_document_names_exists():
    for path in DOCUMENTS:
        assert set(CODE.findall(path.read_text())) - SETTINGS <= BY_NAME.keys(), path


def test_no_other_module_spells_a_type():
    assert {path for path in FILES if BY_NAME.keys() & texts(path)} == {Path(error_types.__file__)}


def texts(path: Path) -> set[str]:
    """The types in the strings of a module, docstrings left out, or in all of another file."""
    if path.suffix != ".py":
        return set(CODE.findall(path.read_text()))
    nodes = list(ast.walk(ast.parse(path.read_text())))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return {code for each in strings if isinstance(each, str) for code in CODE.findall(each)}


def test_every_refusal_is_documented_at_an_answer_with_a_status_of_its_own():
    documented = set()
    for _, path, operation in operations():
        for status in operation.value["responses"]:
            names = types(operation["responses"][status])
            documented |= names
            if path.startswith("/v1/tasks"):
                assert all(int(status) in BY_NAME[name].statuses for name in names), (path, status, names)
    documented |= types(Place(names=(), value=document()["components"]["responses"]["MethodNotAllowed"]))
    assert documented >= {each.name for each in REFUSALS}


def types(response: Place) -> set[str]:
    """The types that a response says its errors have, in our JSON."""
    found = set()
    for media in response.value.get("content", {}).values():
        wanted = media["schema"].get("properties", {}).get("error", {})
        wanted = wanted.get("properties", {}).get("type", {}) if isinstance(wanted, dict) else {}
        found |= {wanted["const"]} if "const" in wanted else set(wanted.get("enum", ()))
    return found


def test_the_relays_errors_have_the_vendors_words_for_their_status():
    for each in VENDORS:
        usual = "api_error" if each.status >= 500 else "invalid_request_error"
        words = {dialects.NATIVE_TYPES.get(each.status, usual), "insufficient_quota" if each.status == 429 else ""}
        assert each.type in words, each


def test_the_schemas_of_the_vendors_errors_name_every_word_that_is_sent():
    schemas = document()["components"]["schemas"]
    usual = {*dialects.NATIVE_TYPES.values(), "invalid_request_error", "api_error"}
    words = {
        ("OpenAIError", "type"): {*usual, "insufficient_quota"},
        ("AnthropicError", "type"): {*usual, "billing_error"},
        ("GoogleError", "status"): {*dialects.GOOGLE_STATUSES.values(), "INVALID_ARGUMENT", "INTERNAL"},
    }
    for (schema, field), sent in words.items():
        assert set(schemas[schema]["properties"]["error"]["properties"][field]["enum"]) == sent, schema
