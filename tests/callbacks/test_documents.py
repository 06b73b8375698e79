"""Headers and attempts of callbacks: the documents say what is sent, and when."""

import re

import pytest

from callbacks import schedule, sender, signing
from common import redaction
from reference.document import document
from tests.adapters.raw_server import raw_server
from tests.callbacks import behaviours, steps
from tests.callbacks.test_sender import parsed
from tools.stack import ROOT

LIBRARY = {"host", "user-agent", "accept", "accept-encoding", "connection", "content-length"}
"""What an HTTP library sends with any body."""
DECLARED = [header.name for header in signing.HEADERS]
PAGES = {page: (ROOT / page).read_text() for page in ("docs/callbacks.md", "docs/interface.md", "README.md")}
LIMITS = sender.LIMITS


def flat(page: str) -> str:
    return " ".join(PAGES[page].split())


@pytest.mark.django_db(transaction=True)
def test_a_real_delivery_has_every_documented_header_and_no_other(owed):
    with raw_server(behaviours.OK) as server:
        owed(server.url)
        steps.sent(steps.claimed_one())
    headers, _ = parsed(server.requests[0])
    webhook = document()["webhooks"]["taskEnded"]["post"]
    documented = {parameter["name"].lower() for parameter in webhook["parameters"]}
    assert headers.keys() - LIBRARY == documented | {"content-type"}
    assert headers["content-type"] in webhook["requestBody"]["content"]


def test_the_request_that_the_page_shows_has_these_headers():
    (request,) = re.findall(r"```http\nPOST .*?\n\n", PAGES["docs/callbacks.md"], re.DOTALL)
    assert re.findall(r"^([\w-]+): ", request, re.MULTILINE) == ["Content-Type", *DECLARED]


@pytest.mark.parametrize(
    "path", ["docs/callbacks.md", *(f"docs/receivers/receiver.{end}" for end in ("py", "mjs")), "reference/openapi"]
)
def test_no_document_names_a_header_that_is_not_sent(path):
    files = [ROOT / path] if (ROOT / path).is_file() else list((ROOT / path).glob("*.yaml"))
    text = "\n".join(file.read_text() for file in files).lower()
    named = set(re.findall(r"\b(?:x-service|webhook)-(?:id|[a-z]+(?=[`\"'\]:]))", text)) - {"webhook-secret"}
    assert named <= {name.lower() for name in DECLARED}


def test_no_signature_comes_into_a_log():
    for header in signing.HEADERS:
        if header.part == "signature":
            assert str(header.example) not in redaction.clean(f"{header.name}: {header.example}")


def test_the_documents_tell_the_default_schedule():
    waits = schedule.in_words(schedule.DEFAULT)
    assert waits == "at once, then after 5 seconds, 5 minutes, 30 minutes, 2 hours, 5 hours, 10 hours and 10 hours"
    hours, attempts = f"{sum(schedule.DEFAULT) / 3600:.0f} hours", len(schedule.DEFAULT)
    page = flat("docs/callbacks.md")
    assert f"Attempts come {waits}, each wait give or take a fifth: {attempts} attempts." in page
    assert f"They come {waits}," in document()["webhooks"]["taskEnded"]["post"]["description"]
    assert f"tried again for {hours}" in page
    assert f"tried for about {hours}" in flat("README.md")
    assert f"| callback attempts | {attempts} within about {hours}" in flat("docs/interface.md")
    assert schedule.JITTER == 1 / 5


def test_the_documents_tell_how_long_an_attempt_may_take():
    connect, total, kept = f"{LIMITS.connect_seconds:g}", f"{LIMITS.total_seconds:g}", sender.MOST_BYTES // 1024
    page = flat("docs/callbacks.md")
    assert f"An attempt has {connect} seconds to connect and {total} seconds in all." in page
    assert f"at most {kept} KiB of it are read" in page
    assert f"{connect} seconds to connect, {total} in all, {kept} KiB of the answer are read" in flat(
        "docs/interface.md"
    )
    webhook = document()["webhooks"]["taskEnded"]["post"]
    assert f"It has {connect} seconds to connect and {total} in all." in " ".join(webhook["description"].split())
    assert f"at most {kept} KiB of it are read" in webhook["responses"]["2XX"]["description"]


def test_every_receiver_of_the_documents_refuses_what_is_older_than_ours_does():
    texts = [
        PAGES["docs/callbacks.md"],
        *(path.read_text() for path in (ROOT / "reference/snippets").glob("verify*")),
        *(path.read_text() for path in (ROOT / "docs/receivers").iterdir()),
    ]
    windows = {found for text in texts for found in re.findall(r"window ?= ?(\d+)", text)}
    assert windows == {str(signing.REPLAY_WINDOW_SECONDS)}
