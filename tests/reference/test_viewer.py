"""The pages of the reference: for everybody, and with everything that the document says."""

import hashlib
import hmac
import re
import time
from ipaddress import ip_network

import pytest

from reference import snippets
from reference.document import document
from reference.sections import sections
from tools.stack import ROOT

ROW = re.compile(r"^\| `(\w+)` \| ([\d, ]+) \|", re.MULTILINE)


def html(client, path="/docs/"):
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/html; charset=utf-8")
    return answer.content.decode()


def test_the_overview_leads_to_every_page_and_to_the_console(client):
    page = html(client)
    assert 'href="/console/"' in page
    for section in sections():
        assert f'href="/docs/{section.slug}/"' in page


def test_every_operation_has_an_anchor_on_the_page_of_its_tag(client):
    shown = {operation.id for section in sections() for operation in section.operations}
    for section in sections():
        page = html(client, f"/docs/{section.slug}/")
        for operation in section.operations:
            assert f'id="{operation.id}"' in page
    methods = ("get", "post", "put", "patch", "delete", "head")
    items = [*document()["paths"].values(), *document()["webhooks"].values()]
    assert shown == {item[method]["operationId"] for item in items for method in methods if method in item}


def test_anchors_are_unique():
    ids = [operation.id for section in sections() for operation in section.operations]
    assert len(ids) == len(set(ids))


def test_no_page_holds_anything_inline_or_from_elsewhere(client):
    for path in ["/docs/", *(f"/docs/{section.slug}/" for section in sections())]:
        page = html(client, path)
        assert not re.search(r"<[^>]* (?:style|on\w+)=", page)
        assert "<style" not in page
        assert not re.search(r"<script(?![^>]* src=\"/static/)", page)
        assert not re.search(r"(?:src|<link[^>]* href)=\"(?:https?:)?//", page)


def test_addresses_without_a_slash_lead_to_those_with_one(client):
    assert client.get("/docs")["Location"] == "/docs/"
    for section in sections():
        assert client.get(f"/docs/{section.slug}")["Location"] == f"/docs/{section.slug}/"


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/nothing/", "/docs/a/b", "/docs/openapi.xml"])
def test_a_page_that_is_not_there_says_where_to_go(client, path):
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "No such page" in answer.content.decode()


def test_a_request_that_cannot_be_served_is_told_as_a_page(client):
    answer = client.get("/docs/", headers={"Host": "evil.example"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/html; charset=utf-8")


def test_who_may_not_come_to_the_admin_may_read(client, settings):
    settings.ADMIN_NETWORKS = (ip_network("10.0.0.0/8"),)
    assert client.get("/admin/").status_code == 404
    assert client.get("/docs/").status_code == 200


def test_pages_are_only_read(client):
    assert client.post("/docs/").status_code == 405


def test_the_address_of_the_installation_stands_in_the_programs(client, settings):
    settings.PUBLIC_BASE_URL = "https://media.example.com"
    assert "export BASE_URL=https://media.example.com" in html(client)


def test_the_table_of_errors_is_that_of_the_interface():
    written = (ROOT / "docs" / "interface.md").read_text(encoding="utf-8").split("\n## Errors\n")[1].split("\n## ")[0]
    told: dict[str, list[int]] = {}
    for name, statuses in ROW.findall(written):
        told.setdefault(name, []).extend(int(status) for status in statuses.split(","))
    assert {error["type"]: error["statuses"] for error in document()["x-errors"]} == told


def test_the_receivers_are_those_of_the_guide():
    guide = (ROOT / "docs" / "callbacks.md").read_text(encoding="utf-8")
    for name, start in (("verify.py.txt", "def verify"), ("verify.mjs.txt", "function verify")):
        program = snippets.program(name)
        assert program[program.index(start) :] in guide


def test_the_receiver_in_python_knows_a_genuine_callback():
    names: dict = {}
    exec(snippets.program("verify.py.txt"), names)
    headers = {"X-SERVICE-Delivery": "task_1.1", "X-SERVICE-Timestamp": str(int(time.time()))}
    signed = f"task_1.1.{headers['X-SERVICE-Timestamp']}.".encode() + b"{}"
    headers["X-SERVICE-Signature"] = "v1=" + hmac.new(b"dr-task-x", signed, hashlib.sha256).hexdigest()
    assert names["verify"]("dr-task-x", headers, b"{}")
    assert not names["verify"]("dr-task-y", headers, b"{}")
    assert not names["verify"]("dr-task-x", headers, b"{ }")
