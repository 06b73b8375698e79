"""The steering words: what is answered, and what was bought."""

import time

import pytest
import requests

from sandbox import steering
from sandbox.steering import Word
from tests.sandbox.conftest import SHORT

PROTOCOLS = ["image", "video"]
CUTS = (requests.ConnectionError, requests.exceptions.ChunkedEncodingError)


def link_of(client, prompt):
    return client.image(prompt + "[url]").json()["data"][0]["url"]


def test_words_are_read_with_stage_and_number():
    assert steering.read("a [fox] [fail] [poll:reset=2] [slow=1.5] [=3] [nope:fail]").words == (
        Word(stage="submit", name="fox"),
        Word(stage="submit", name="fail"),
        Word(stage="poll", name="reset", number=2),
        Word(stage="submit", name="slow", number=1.5),
    )


def test_other_words_in_brackets_mean_nothing(client):
    assert client.image("[fox] in the [snow=3]").status_code == 200


@pytest.mark.parametrize(
    ("protocol", "word", "status", "code"),
    [
        ("image", "[moderated]", 400, "moderation_blocked"),
        ("image", "[moderated-output]", 400, "moderation_blocked"),
        ("image", "[fail]", 400, "image_generation_failed"),
        ("image", "[rate-limited]", 429, "rate_limit_exceeded"),
        ("image", "[status=502]", 502, None),
        ("video", "[moderated]", 400, "InputTextSensitiveContentDetected"),
        ("video", "[rate-limited]", 429, "ModelAccountRpmRateLimitExceeded"),
        ("video", "[status=502]", 502, "Status"),
    ],
)
def test_a_refusal_buys_nothing_however_often(client, sandbox, protocol, word, status, code):
    for _ in range(2):
        response = getattr(client, protocol)(f"a fox {word}")
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert ("Retry-After" in response.headers) == (status == 429)
    assert sandbox.audit()["jobs"] == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_limited_refusal_ends_after_so_many_turns_per_prompt(client, sandbox, protocol):
    submit = getattr(client, protocol)
    assert [submit("a fox [rate-limited=2]").status_code for _ in range(4)] == [429, 429, 200, 200]
    assert submit("another fox [rate-limited=2]").status_code == 429
    assert sandbox.audit()["by_prompt"] == {"a fox [rate-limited=2]": 2}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_reset_answer_was_bought(client, sandbox, protocol):
    with pytest.raises(requests.ConnectionError) as raised:
        getattr(client, protocol)("a fox [reset]")
    assert "ConnectionResetError" in repr(raised.value)
    assert sandbox.audit()["by_prompt"] == {"a fox [reset]": 1}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_hanging_answer_was_bought(client, sandbox, protocol):
    with pytest.raises(requests.ReadTimeout):
        getattr(client, protocol)("a fox [hang]", timeout=SHORT)
    assert sandbox.audit()["by_prompt"] == {"a fox [hang]": 1}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_garbage_answer_was_bought(client, sandbox, protocol):
    response = getattr(client, protocol)("a fox [garbage]")
    assert response.status_code == 200
    with pytest.raises(requests.JSONDecodeError):
        response.json()
    assert sandbox.audit()["by_prompt"] == {"a fox [garbage]": 1}


def test_a_slow_image_is_bought_before_it_is_answered(client, sandbox):
    with pytest.raises(requests.ReadTimeout):
        client.image("a fox [late]", timeout=SHORT)
    assert sandbox.audit()["jobs"] == 1
    started = time.monotonic()
    assert client.image("a fox [slow=0.3]").status_code == 200
    assert time.monotonic() - started >= 0.3


def test_slow_and_late_videos_run_as_long_as_asked(client):
    started = time.monotonic()
    assert client.finished("a fox [slow=0.5]")["status"] == "succeeded"
    assert time.monotonic() - started >= 0.5
    late = client.video("a fox [late]").json()["id"]
    assert client.poll(late).json()["status"] in ("queued", "running")


def test_a_partial_image_answer_has_one_item_fewer_but_never_none(client):
    assert [len(client.image("a fox [partial]", n=n).json()["data"]) for n in (1, 2, 4)] == [1, 1, 3]


def test_a_partial_video_reports_and_delivers_half(client):
    shown = client.finished("a fox [partial]", duration=8)
    film = requests.get(shown["content"]["video_url"], timeout=10).content
    assert shown["duration"] == 4
    assert film == requests.get(client.finished("b", duration=4)["content"]["video_url"], timeout=10).content


@pytest.mark.parametrize(
    ("word", "code"),
    [("[fail]", "InternalServiceError"), ("[moderated-output]", "OutputVideoSensitiveContentDetected")],
)
def test_a_failing_video_is_bought_and_ends_as_failed(client, sandbox, word, code):
    shown = client.finished(f"a fox {word}")
    assert (shown["status"], shown["error"]["code"]) == ("failed", code)
    assert "content" not in shown
    assert sandbox.audit()["jobs"] == 1


def test_the_url_word_makes_links(client, sandbox):
    url = link_of(client, "a fox")
    response = requests.get(url, timeout=10)
    assert url.startswith(sandbox.url)
    assert (response.headers["content-type"], response.content[:4]) == ("image/png", b"\x89PNG")


def test_poll_faults_strike_a_sequence_of_polls_and_then_end(client):
    job = client.video("a fox [poll:reset=1][poll:garbage=1][poll:rate-limited=1][poll:fail=1]").json()["id"]
    with pytest.raises(requests.ConnectionError):
        client.poll(job)
    with pytest.raises(requests.JSONDecodeError):
        client.poll(job).json()
    limited = client.poll(job)
    assert (limited.status_code, limited.headers["Retry-After"]) == (429, "1")
    assert client.poll(job).status_code == 500
    assert client.poll(job).json()["id"] == job


def test_a_poll_can_hang(client):
    job = client.video("a fox [poll:hang=1]").json()["id"]
    with pytest.raises(requests.ReadTimeout):
        client.poll(job, timeout=SHORT)
    assert client.poll(job).status_code == 200


def test_a_poll_fault_without_number_never_ends(client):
    job = client.video("a fox [poll:status=503]").json()["id"]
    assert [client.poll(job).status_code for _ in range(3)] == [503] * 3


def test_a_poll_fault_strikes_the_list_that_holds_the_job(client):
    struck, other = (client.video(prompt).json()["id"] for prompt in ("a fox [poll:fail]", "a fox"))
    assert client.poll(**{"filter.task_ids": [struck, other]}).status_code == 500
    assert client.poll(**{"filter.task_ids": [other]}).status_code == 200


def test_a_download_is_reset_in_the_middle_and_then_works(client):
    url = client.finished("a fox [download:reset=1]")["content"]["video_url"]
    with requests.get(url, timeout=10, stream=True) as response:
        assert response.status_code == 200
        with pytest.raises(CUTS):
            list(response.iter_content(1024))
    assert requests.get(url, timeout=10).content[4:8] == b"ftyp"


def test_a_download_can_hang_in_the_middle(client):
    url = link_of(client, "a fox [download:hang=1]")
    with requests.get(url, timeout=SHORT, stream=True) as response, pytest.raises(CUTS):
        list(response.iter_content(1024))
    assert requests.get(url, timeout=10).status_code == 200


def test_a_garbage_download_keeps_its_type(client):
    response = requests.get(link_of(client, "a fox [download:garbage]"), timeout=10)
    assert response.headers["content-type"] == "image/png"
    assert response.content.startswith(b"<html>")


def test_a_slow_download_drips(client):
    started = time.monotonic()
    content = requests.get(link_of(client, "a fox [download:slow=0.5]"), timeout=10).content
    assert content.startswith(b"\x89PNG")
    assert time.monotonic() - started >= 0.5


def test_a_download_can_fail(client):
    assert requests.get(link_of(client, "a fox [download:fail]"), timeout=10).status_code == 500
