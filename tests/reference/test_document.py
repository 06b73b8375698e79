"""The files of the document become one, and no name of theirs is lost."""

import json

import pytest
import yaml

from reference import document

ROOT = ("root.yaml", {"openapi": "3.1.1", "info": {"title": "T"}})
GET = {"get": {"summary": "read"}}


def test_files_add_to_the_root_in_their_order():
    first = ("a.yaml", {"paths": {"/b": GET}, "components": {"schemas": {"B": {}}}})
    second = ("b.yaml", {"paths": {"/a": GET}, "components": {"schemas": {"A": {}}, "headers": {"H": {}}}})
    whole = document.joined([ROOT, first, second])
    assert whole["info"] == {"title": "T"}
    assert list(whole["paths"]) == ["/b", "/a"]
    assert list(whole["components"]["schemas"]) == ["B", "A"]
    assert whole["components"]["headers"] == {"H": {}}


def test_two_files_may_share_a_path_but_not_a_method():
    post = ("b.yaml", {"paths": {"/a": {"post": {"summary": "write"}}}})
    assert list(document.joined([ROOT, ("a.yaml", {"paths": {"/a": GET}}), post])["paths"]["/a"]) == ["get", "post"]
    with pytest.raises(document.NameTaken, match=r"b\.yaml: paths\./a\.get"):
        document.joined([ROOT, ("a.yaml", {"paths": {"/a": GET}}), ("b.yaml", {"paths": {"/a": GET}})])


@pytest.mark.parametrize("section", [{"webhooks": {"X": GET}}, {"components": {"schemas": {"X": {}}}}])
def test_a_name_that_is_there_already_is_refused(section):
    with pytest.raises(document.NameTaken, match=r"b\.yaml: .*X is already defined"):
        document.joined([ROOT, ("a.yaml", section), ("b.yaml", section)])


def test_only_the_root_says_what_the_document_is():
    with pytest.raises(document.NameTaken, match=r"a\.yaml: tags belongs in root\.yaml"):
        document.joined([ROOT, ("a.yaml", {"tags": []})])


def test_a_field_that_is_twice_in_a_file_is_refused(tmp_path):
    file = tmp_path / "twice.yaml"
    file.write_text("paths:\n  /a: {}\n  /a: {}\n")
    with pytest.raises(yaml.YAMLError, match="there twice"):
        document.read(file)


def test_names_are_texts(tmp_path):
    file = tmp_path / "names.yaml"
    file.write_text("paths:\n  /a: [{200: {}}]\n")
    assert document.read(file) == {"paths": {"/a": [{"200": {}}]}}
    file.write_text("off: {}\n")
    with pytest.raises(ValueError, match="False is not a name"):
        document.read(file)


def test_both_forms_say_the_same_and_moments_stay_texts():
    assert json.loads(document.as_json()) == document.document()
    assert yaml.safe_load(document.as_yaml()) == document.document()


def test_the_version_is_that_of_the_project():
    assert document.document()["info"]["version"] == document.version() != ""


@pytest.mark.parametrize(("name", "kind"), [("yaml", "application/yaml; charset=utf-8"), ("json", "application/json")])
def test_the_document_is_served_to_everybody_and_asked_for_again(client, name, kind):
    answer = client.get(f"/docs/openapi.{name}")
    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert yaml.safe_load(answer.content) == document.document()
    again = client.get(f"/docs/openapi.{name}", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
