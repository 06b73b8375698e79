"""The steering words, which every protocol shares: what is answered, and what was bought.

Which protocol says what to a word, and what becomes of a task then, is shown by `tests/worker/test_words.py`.
"""

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
import requests

from sandbox import steering
from sandbox.jobs import Job, schedule
from sandbox.steering import Script, Word
from tests.sandbox.conftest import IMAGES, TASKS, Client, is_silent
from tools.children import PATIENCE, wait_until

CUTS = (requests.ConnectionError, requests.exceptions.ChunkedEncodingError)


def link_of(client: Client, prompt: str) -> str:
    url: str = client.image(prompt + "[url]").json()["data"][0]["url"]
    return url


def test_words_are_read_with_stage_and_number():
    assert steering.read("a [fox] [fail] [poll:reset=2] [slow=1.5] [=3] [nope:fail]").words == (
        Word(stage="submit", name="fox"),
        Word(stage="submit", name="fail"),
        Word(stage="poll", name="reset", number=2),
        Word(stage="submit", name="slow", number=1.5),
    )


def test_other_words_in_brackets_mean_nothing(client):
    assert client.image("[fox] in the [snow=3]").status_code == 200


def test_a_refusal_buys_nothing_however_often(client, sandbox):
    for protocol, word, status, code in (
        ("image", "[moderated]", 400, "moderation_blocked"),
        ("image", "[moderated-output]", 400, "moderation_blocked"),
        ("image", "[fail]", 400, "image_generation_failed"),
        ("image", "[rate-limited]", 429, "rate_limit_exceeded"),
        ("image", "[status=502]", 502, None),
        ("video", "[moderated]", 400, "InputTextSensitiveContentDetected"),
        ("video", "[rate-limited]", 429, "ModelAccountRpmRateLimitExceeded"),
        ("video", "[status=502]", 502, "Status"),
    ):
        for _ in range(2):
            response = getattr(client, protocol)(f"a fox {word}")
            assert (response.status_code, response.json()["error"]["code"]) == (status, code), word
            assert ("Retry-After" in response.headers) == (status == 429), word
    assert sandbox.audit()["jobs"] == 0


@pytest.mark.parametrize("protocol", ["image", "video"])
def test_a_limited_refusal_ends_after_so_many_turns_per_prompt(client, sandbox, protocol):
    submit = getattr(client, protocol)
    assert [submit("a fox [rate-limited=2]").status_code for _ in range(4)] == [429, 429, 200, 200]
    assert submit("another fox [rate-limited=2]").status_code == 429
    assert sandbox.audit()["by_prompt"] == {"a fox [rate-limited=2]": 2}


@pytest.mark.parametrize("protocol", ["image", "video"])
def test_what_was_answered_with_a_reset_or_garbage_was_bought(client, sandbox, protocol):
    submit = getattr(client, protocol)
    with pytest.raises(requests.ConnectionError) as raised:
        submit("[reset]")
    assert "ConnectionResetError" in repr(raised.value)
    response = submit("[garbage]")
    assert response.status_code == 200
    with pytest.raises(requests.JSONDecodeError):
        response.json()
    assert sandbox.audit()["by_prompt"] == {"[reset]": 1, "[garbage]": 1}


def test_a_hanging_answer_was_bought(client, sandbox):
    body = {"model": "m", "prompt": "a fox [hang]"}
    with client.sent("POST", IMAGES, body) as connection:
        wait_until(lambda: sandbox.audit()["jobs"] == 1)
        assert client.image("another").status_code == 200
        assert is_silent(connection)


def test_a_slow_image_takes_as_long_as_asked(client):
    started = time.monotonic()
    assert client.image("a fox [slow=0.1]").status_code == 200
    assert time.monotonic() - started >= 0.1


def test_a_job_starts_and_ends_when_its_words_say():
    for prompt, moments in (
        ("a fox", (101, 110)),
        ("[slow=50]", (105, 150)),
        ("[late]", (106, 160)),
        ("[queued]", (160, 170)),
        ("[queued=0][slow=1][late=2]", (100, 103)),
    ):
        assert schedule(steering.read(prompt), 100, 10) == moments, prompt


def test_a_jobs_life_follows_the_clock():
    def job(**changes) -> Job:
        moments = {"created_at": 100, "starts_at": 110, "ends_at": 150, "expires_at": 1_000}
        rest = {"prompt": "", "script": Script(), "fate": None, "media": (), "detail": None}
        return Job(**{"id": "x", **moments, **rest, **changes})

    assert [job().status(now) for now in (100, 110, 150)] == ["queued", "running", "succeeded"]
    assert [job(expires_at=120).status(now) for now in (119, 120, 150)] == ["running", "expired", "expired"]
    assert [job(fate="fail").status(now) for now in (149, 150)] == ["running", "failed"]
    assert job(canceled_at=105).status(100) == "cancelled"
    assert [job().updated_at(now) for now in (105, 110, 149, 200)] == [100, 110, 110, 150]
    assert job(canceled_at=105).updated_at(200) == 105


def test_a_partial_image_answer_has_one_item_fewer_but_never_none(client):
    assert [len(client.image("a fox [partial]", n=n).json()["data"]) for n in (1, 2, 4)] == [1, 1, 3]


def test_a_partial_video_reports_and_delivers_half(client):
    shown = client.finished("a fox [partial]", duration=8)
    assert shown["duration"] == 4
    whole = client.finished("b", duration=4)
    assert client.get(shown["content"]["video_url"]).content == client.get(whole["content"]["video_url"]).content


def test_a_failing_video_is_bought_and_ends_as_failed(client, sandbox):
    for word, code in (
        ("[fail]", "InternalServiceError"),
        ("[moderated-output]", "OutputVideoSensitiveContentDetected"),
    ):
        shown = client.finished(word)
        assert (shown["status"], shown["error"]["code"]) == ("failed", code)
        assert "content" not in shown
    assert sandbox.audit()["jobs"] == 2


def test_the_url_word_makes_links(client, sandbox):
    url = link_of(client, "a fox")
    response = client.get(url)
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


def test_a_poll_can_hang(client, sandbox):
    job = client.video("a fox [poll:hang=1]").json()["id"]
    with client.sent("GET", f"{TASKS}/{job}") as connection:
        wait_until(lambda: sandbox.audit()["calls"].get("poll") == 1)
        assert client.poll(job).status_code == 200
        assert is_silent(connection)


def test_a_poll_fault_without_number_never_ends(client):
    job = client.video("a fox [poll:status=503]").json()["id"]
    assert [client.poll(job).status_code for _ in range(3)] == [503] * 3


def test_a_poll_fault_strikes_the_list_that_holds_the_job(client):
    struck, other = (client.video(prompt).json()["id"] for prompt in ("a fox [poll:fail]", "a fox"))
    assert client.poll(**{"filter.task_ids": [struck, other]}).status_code == 500
    assert client.poll(**{"filter.task_ids": [other]}).status_code == 200


def test_a_download_is_reset_in_the_middle_and_then_works(client):
    url = client.finished("a fox [download:reset=1]")["content"]["video_url"]
    with requests.get(url, timeout=PATIENCE, stream=True) as response:
        assert response.status_code == 200
        with pytest.raises(CUTS):
            list(response.iter_content(1024))
    assert client.get(url).content[4:8] == b"ftyp"


def test_a_download_can_hang_in_the_middle(client):
    url = link_of(client, "a fox [download:hang=1]")
    with client.sent("GET", url.removeprefix(client.sandbox.url)) as connection:
        received = connection.recv(1)
        whole = client.get(url).content
        while not received.endswith(whole[: len(whole) // 2]):
            received += connection.recv(65_536)
        assert is_silent(connection)


def test_a_garbage_download_keeps_its_type(client):
    response = client.get(link_of(client, "a fox [download:garbage]"))
    assert response.headers["content-type"] == "image/png"
    assert response.content.startswith(b"<html>")


def test_a_slow_download_drips(client):
    started = time.monotonic()
    assert client.get(link_of(client, "a fox [download:slow=0.1]")).content.startswith(b"\x89PNG")
    assert time.monotonic() - started >= 0.1


def test_a_download_can_fail(client):
    assert client.get(link_of(client, "a fox [download:fail]")).status_code == 500


@pytest.fixture
def begin(sandbox):
    """Begins a call on a thread of its own; what is held is let go before the test ends."""
    with ThreadPoolExecutor() as threads:
        yield threads.submit
        sandbox.release()


def answered(call: Future) -> int:
    return call.result(PATIENCE).status_code


class TestHeld:
    """`[held]`: what waits for a release, and for nothing else."""

    def test_an_image_is_bought_and_its_answer_waits(self, client, sandbox, begin):
        call = begin(client.image, "[held]")
        wait_until(lambda: sandbox.audit()["jobs"] == 1)
        assert client.image("another").status_code == 200
        assert not call.done()
        sandbox.release()
        assert answered(call) == 200

    def test_a_job_that_is_over_by_the_clock_goes_on(self, client, sandbox):
        job = client.video("[held]").json()["id"]
        assert (client.poll(job).json()["status"], sandbox.audit()["open"]) == ("running", 1)
        assert client.call("POST", "/release").status_code == 200
        assert (client.poll(job).json()["status"], sandbox.audit()["open"]) == ("succeeded", 0)

    def test_a_held_job_can_be_cancelled_while_it_is_queued(self, client):
        job = client.video("[held][queued=99999]").json()["id"]
        assert client.delete(job).status_code == 200
        assert client.poll(job).json()["status"] == "cancelled"

    def test_the_answer_to_one_poll_waits_and_the_next_does_not(self, client, sandbox, begin):
        job = client.video("[poll:held=1]").json()["id"]
        call = begin(client.poll, job)
        wait_until(lambda: sandbox.audit()["calls"].get("poll") == 1)
        assert client.poll(job).status_code == 200
        assert not call.done()
        sandbox.release()
        assert answered(call) == 200

    def test_a_download_waits(self, client, sandbox, begin):
        call = begin(client.get, link_of(client, "[download:held]"))
        wait_until(lambda: sandbox.audit()["calls"].get("download") == 1)
        assert client.get(link_of(client, "another")).status_code == 200
        assert not call.done()
        sandbox.release()
        assert call.result(PATIENCE).content.startswith(b"\x89PNG")

    def test_after_a_release_nothing_is_held_until_the_next_reset(self, client, sandbox):
        sandbox.release()
        assert client.image("[held]").status_code == 200
        assert client.finished("[held]")["status"] == "succeeded"
        sandbox.reset()
        assert client.poll(client.video("[held]").json()["id"]).json()["status"] == "running"

    def test_a_reset_lets_go_what_is_held(self, client, sandbox, begin):
        job = client.video("[poll:held]").json()["id"]
        calls = [begin(client.image, "[held]"), begin(client.poll, job)]
        wait_until(lambda: sandbox.audit()["jobs"] == 2 and sandbox.audit()["calls"].get("poll") == 1)
        sandbox.reset()
        assert [answered(call) for call in calls] == [200, 200]
        assert sandbox.audit()["jobs"] == 0
