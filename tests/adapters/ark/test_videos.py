"""Video jobs: submitting, polling in batches, cancelling."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import responses
from requests import ConnectionError as NoConnection

from adapters.base import Accepted, Done, ErrorKind, Output, Pending, UpstreamError
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, video_request, video_target

adapter = ADAPTERS["ark_content_tasks"]
BASE = "https://ark.example.com/api/v3"
TASKS = f"{BASE}/contents/generations/tasks"
CONNECTION = connection_to(BASE)
FILM = "https://cdn.example.com/film.mp4?sig=1"
FRAME = "https://cdn.example.com/frame.png"
GONE = {"error": {"code": "ResourceNotFound", "message": "gone"}}


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def handle(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "last_frame": False} | more


def job(name: str, status: str = "running", **more: Any) -> dict[str, Any]:
    return {"id": name, "model": "seedance-2", "status": status} | more


def done(name: str, **more: Any) -> dict[str, Any]:
    return job(name, "succeeded", content={"video_url": FILM, "last_frame_url": FRAME}, duration=5, **more)


def poll_one(provider: responses.RequestsMock, answer: object, **more: Any) -> Pending | Done | UpstreamError:
    provider.get(f"{TASKS}/cgt-1", json=answer)
    (state,) = adapter.poll([handle("cgt-1", **more)], CONNECTION)
    return state


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    return state.kind


def test_a_submit_is_accepted_with_a_handle(provider: responses.RequestsMock) -> None:
    provider.post(TASKS, json={"id": "cgt-1"})
    upstream = adapter.build(video_request(), video_target())
    accepted = adapter.submit(upstream, CONNECTION)
    assert accepted == Accepted(handle={"id": "cgt-1", "last_frame": False}, poll_after=5.0)
    assert json.loads(provider.calls[0].request.body or b"") == upstream.body


def test_the_operator_sets_the_pace(provider: responses.RequestsMock) -> None:
    provider.post(TASKS, json={"id": "cgt-1"})
    accepted = adapter.submit(
        adapter.build(video_request(), video_target()), connection_to(BASE, options={"poll_seconds": 0.2})
    )
    assert accepted.poll_after == 0.2  # type: ignore[union-attr]


def test_an_unfinished_job_is_pending(provider: responses.RequestsMock) -> None:
    for status in ["queued", "running", "something new"]:
        provider.reset()
        assert poll_one(provider, job("cgt-1", status)) == Pending(poll_after=5.0), status


def test_a_finished_job_has_its_film_and_length(provider: responses.RequestsMock) -> None:
    assert poll_one(provider, done("cgt-1")) == Done(outputs=(Output(index=0, kind="video", url=FILM),), duration=5.0)


def test_a_last_frame_is_an_image_where_it_was_asked_for(provider: responses.RequestsMock) -> None:
    provider.post(TASKS, json={"id": "cgt-1"})
    request = video_request(provider_options={"return_last_frame": True})
    accepted = adapter.submit(adapter.build(request, video_target()), CONNECTION)
    assert isinstance(accepted, Accepted)
    state = poll_one(provider, done("cgt-1"), **accepted.handle)
    assert isinstance(state, Done)
    assert [(output.index, output.kind, output.url) for output in state.outputs] == [
        (0, "video", FILM),
        (1, "image", FRAME),
    ]


def test_only_a_sane_length_is_reported(provider: responses.RequestsMock) -> None:
    for reported, seconds in [
        (5, 5.0),
        (5.04, 5.04),
        (0, None),
        (-1, None),
        ("5", 5.0),
        (" 3.5 ", 3.5),
        ("3.5s", 3.5),
        ("5 s", 5.0),
        ("", None),
        ("s", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1_0", None),
        ("9" * 5000, None),
        ("1e300", None),
        (float("inf"), None),
        ([5], None),
        (True, None),
        (None, None),
        (10**400, None),
    ]:
        provider.reset()
        state = poll_one(provider, done("cgt-1") | {"duration": reported})
        assert isinstance(state, Done), reported
        assert state.duration == seconds, reported


def test_a_job_that_ended_badly(provider: responses.RequestsMock) -> None:
    for status, error, kind in [
        ("failed", {"code": "InternalServiceError", "message": "m"}, ErrorKind.PROVIDER_FAILED),
        ("failed", {"code": "OutputVideoSensitiveContentDetected", "message": "m"}, ErrorKind.CONTENT_POLICY),
        ("failed", {"code": "InvalidParameter", "message": "m"}, ErrorKind.PROVIDER_FAILED),
        ("failed", None, ErrorKind.PROVIDER_FAILED),
        ("cancelled", None, ErrorKind.PROVIDER_FAILED),
        ("canceled", None, ErrorKind.PROVIDER_FAILED),
        ("expired", None, ErrorKind.PROVIDER_FAILED),
    ]:
        provider.reset()
        assert kind_of(poll_one(provider, job("cgt-1", status, error=error))) is kind, (status, error)


def test_a_poll_fault_says_nothing_about_the_job(provider: responses.RequestsMock) -> None:
    for status, body in [
        (200, '{"id": "cgt-1"}'),
        (200, '{"status": 1}'),
        (400, '{"error": {"code": "InvalidParameter"}}'),
        (400, '{"error": {"code": "InputTextSensitiveContentDetected"}}'),
        (404, '{"error": {"code": "InvalidEndpointOrModel.NotFound"}}'),
        (500, '{"error": {"code": "InternalServiceError"}}'),
    ]:
        provider.reset()
        provider.get(f"{TASKS}/cgt-1", status=status, body=body)
        (state,) = adapter.poll([handle("cgt-1")], CONNECTION)
        assert kind_of(state) is ErrorKind.TRANSIENT, (status, body)


def test_a_job_that_the_provider_does_not_know_is_an_empty_result(provider: responses.RequestsMock) -> None:
    provider.get(f"{TASKS}/cgt-1", status=404, json=GONE)
    (state,) = adapter.poll([handle("cgt-1")], CONNECTION)
    assert kind_of(state) is ErrorKind.EMPTY_RESULT


def test_many_jobs_are_one_call_and_answers_keep_the_order(provider: responses.RequestsMock) -> None:
    names = [f"cgt-{number}" for number in range(50)]
    items = [done(name) if name == "cgt-7" else job(name) for name in reversed(names)]
    provider.get(TASKS, json={"total": 50, "items": [{}, None, *items, job("cgt-99")]})
    states = adapter.poll([handle(name) for name in names], CONNECTION)
    query = parse_qsl(urlsplit(provider.calls[0].request.url or "").query)
    assert query == [("page_num", "1"), ("page_size", "50"), *(("filter.task_ids", name) for name in names)]
    assert len(provider.calls) == 1
    assert [index for index, state in enumerate(states) if isinstance(state, Done)] == [7]
    assert sum(isinstance(state, Pending) for state in states) == 49


def test_a_job_that_the_list_does_not_show_is_asked_for_itself(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, json={"total": 1, "items": [job("b")]})
    provider.get(f"{TASKS}/a", json=done("a"))
    provider.get(f"{TASKS}/c", status=404, json=GONE)
    states = adapter.poll([handle(name) for name in "abc"], CONNECTION)
    assert isinstance(states[0], Done)
    assert isinstance(states[1], Pending)
    assert kind_of(states[2]) is ErrorKind.EMPTY_RESULT


def test_a_fault_while_asking_stands_for_the_rest(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, json={"items": [job("b")]})
    provider.get(f"{TASKS}/a", body=NoConnection("down"))
    states = adapter.poll([handle(name) for name in "abc"], CONNECTION)
    assert [type(state) for state in states] == [UpstreamError, Pending, UpstreamError]
    assert len(provider.calls) == 2


def test_a_provider_without_a_list_is_asked_one_by_one(provider: responses.RequestsMock) -> None:
    for answer in [{"status": 404}, {"status": 400}, {"json": {"items": "none"}}, {"json": {}}]:
        provider.reset()
        provider.get(TASKS, **answer)
        provider.get(f"{TASKS}/a", json=job("a"))
        provider.get(f"{TASKS}/b", json=done("b"))
        states = adapter.poll([handle("a"), handle("b")], CONNECTION)
        assert [type(state) for state in states] == [Pending, Done], answer


def test_a_fault_of_the_list_is_a_fault_of_the_batch(provider: responses.RequestsMock) -> None:
    for status, kind in [(500, ErrorKind.TRANSIENT), (401, ErrorKind.AUTH), (429, ErrorKind.RATE_LIMITED)]:
        provider.reset()
        provider.get(TASKS, status=status)
        with pytest.raises(UpstreamError) as caught:
            adapter.poll([handle("a"), handle("b")], CONNECTION)
        assert caught.value.kind is kind, status


def test_a_queued_job_is_cancelled(provider: responses.RequestsMock) -> None:
    provider.get(f"{TASKS}/cgt-1", json=job("cgt-1", "queued"))
    provider.delete(f"{TASKS}/cgt-1", json={})
    assert adapter.cancel(handle("cgt-1"), CONNECTION) is True


@pytest.mark.parametrize("shown", [job("cgt-1", "running"), done("cgt-1")])
def test_a_job_that_may_have_a_result_is_not_deleted(provider: responses.RequestsMock, shown: Any) -> None:
    """A running one cannot be cancelled, and one that ends between the two requests would lose its result."""
    provider.get(f"{TASKS}/cgt-1", json=shown)
    assert adapter.cancel(handle("cgt-1"), CONNECTION) is False
    assert [call.request.method for call in provider.calls] == ["GET"]
