"""Kling video jobs: submitting under our own name, finding again, polling in batches, what errors mean."""

import base64
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import responses
from requests import ConnectionError as NoConnection

from adapters.base import Accepted, Connection, Done, ErrorKind, Output, Pending, Target, UpstreamError
from adapters.kling import auth as kling_auth
from adapters.registry import ADAPTERS
from tests.adapters.making import API_KEY, connection_to, says_nothing_secret, video_request

adapter = ADAPTERS["kling_tasks"]
BASE = "https://kling.example.com"
TASKS = f"{BASE}/tasks"
TEXT, OLD_TEXT = f"{BASE}/text-to-video/kling-3.0", f"{BASE}/v1/videos/text2video"
FILM = "https://cdn.example.com/film.mp4?sig=1"
CONNECTION = connection_to(BASE)
NAMED = connection_to(BASE, reference="ours-1")
PAIR = connection_to(BASE, credentials={"access_key": "access-canary", "secret_key": "secret-canary"})
GONE = {"code": 1201, "message": "Task not found by id/external id", "request_id": "r"}


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def target(**options: Any) -> Target:
    return Target(adapter="kling_tasks", base_url=BASE, upstream_model="kling-3.0", options=options)


UPSTREAM = adapter.build(video_request(), target())
OLD_UPSTREAM = adapter.build(video_request(), target(api="v1"))


def fine(data: object) -> dict[str, Any]:
    return {"code": 0, "message": "SUCCEED", "request_id": "r", "data": data}


def newer(name: str = "1", status: str = "processing", **more: Any) -> dict[str, Any]:
    return {"id": name, "status": status, "message": "", "external_id": ""} | more


def done(name: str = "1", **more: Any) -> dict[str, Any]:
    output = {"type": "video", "id": "v", "url": FILM, "duration": "5.041"} | more
    return newer(name, "succeeded", outputs=[{"type": "image", "url": "https://cdn.example.com/x"}, output])


def older(name: str = "1", status: str = "processing", **more: Any) -> dict[str, Any]:
    return {"task_id": name, "task_status": status, "task_status_msg": "", "task_info": {}} | more


def handle(name: str = "1", path: str = "/tasks") -> dict[str, str]:
    return {"id": name, "path": path}


def poll_one(
    provider: responses.RequestsMock, connection: Connection = CONNECTION, **answer: Any
) -> Pending | Done | UpstreamError:
    provider.get(TASKS, **answer)
    (state,) = adapter.poll([handle()], connection)
    return state


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def refused(provider: responses.RequestsMock, **answer: Any) -> UpstreamError:
    provider.post(TEXT, **answer)
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(UPSTREAM, CONNECTION)
    assert len(provider.calls) == 1
    assert says_nothing_secret(caught.value)
    return caught.value


def sent(provider: responses.RequestsMock) -> dict[str, Any]:
    return dict(json.loads(provider.calls[0].request.body or b""))


def test_a_submit_is_accepted_with_a_handle(provider: responses.RequestsMock) -> None:
    provider.post(TEXT, json=fine({"id": "893605946402811985", "status": "submitted"}))
    accepted = adapter.submit(UPSTREAM, CONNECTION)
    assert accepted == Accepted(handle=handle("893605946402811985"), poll_after=10.0)
    assert provider.calls[0].request.headers["Authorization"] == f"Bearer {API_KEY}"
    assert sent(provider) == UPSTREAM.body


def test_the_older_generation_keeps_its_path(provider: responses.RequestsMock) -> None:
    provider.post(OLD_TEXT, json=fine({"task_id": "1", "task_status": "submitted"}))
    accepted = adapter.submit(OLD_UPSTREAM, connection_to(BASE, options={"poll_seconds": 3}))
    assert accepted == Accepted(handle=handle("1", "/v1/videos/text2video"), poll_after=3.0)
    assert sent(provider) == OLD_UPSTREAM.body


def test_our_own_name_goes_with_the_job(provider: responses.RequestsMock) -> None:
    provider.post(TEXT, json=fine({"id": "1"}))
    adapter.submit(UPSTREAM, NAMED)
    assert sent(provider)["options"] == {"watermark_info": {"enabled": False}, "external_task_id": "ours-1"}


def test_our_own_name_goes_with_the_job_in_the_older_generation(provider: responses.RequestsMock) -> None:
    provider.post(OLD_TEXT, json=fine({"task_id": "1"}))
    adapter.submit(OLD_UPSTREAM, NAMED)
    assert sent(provider) == {**OLD_UPSTREAM.body, "external_task_id": "ours-1"}


def test_a_pair_of_keys_becomes_a_short_lived_token() -> None:
    head, claims, signature = kling_auth.token("mine", "hush", 1_000_000).split(".")
    read = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, claims)]
    assert read == [{"alg": "HS256", "typ": "JWT"}, {"iss": "mine", "exp": 1_001_800, "nbf": 999_995}]
    expected = hmac.new(b"hush", f"{head}.{claims}".encode(), hashlib.sha256).digest()
    assert base64.urlsafe_b64decode(signature + "==") == expected
    assert "=" not in signature


def test_the_token_is_what_authenticates_and_stays_out_of_errors(provider: responses.RequestsMock) -> None:
    def quote(request: Any) -> tuple[int, dict[str, str], str]:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        assert token.count(".") == 2
        return 401, {}, json.dumps({"code": 1002, "message": f"bad {token} of access-canary and secret-canary"})

    provider.add_callback(responses.POST, TEXT, callback=quote)
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(UPSTREAM, PAIR)
    assert (caught.value.kind, caught.value.message) == (ErrorKind.AUTH, "bad *** of *** and ***")


def test_unusable_credentials_are_refused_without_a_call() -> None:
    for credentials in [{}, {"access_key": "x"}, {"access_key": "x", "secret_key": "a b"}]:
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(UPSTREAM, connection_to(BASE, credentials=credentials))
        assert caught.value.kind is ErrorKind.AUTH, credentials


def test_a_documented_error(provider: responses.RequestsMock) -> None:
    for status, code, kind in [
        (401, 1000, ErrorKind.AUTH),
        (401, 1001, ErrorKind.AUTH),
        (401, 1002, ErrorKind.AUTH),
        (401, 1003, ErrorKind.AUTH),
        (401, 1004, ErrorKind.AUTH),
        (429, 1100, ErrorKind.QUOTA_EXHAUSTED),
        (429, 1101, ErrorKind.QUOTA_EXHAUSTED),
        (429, 1102, ErrorKind.QUOTA_EXHAUSTED),
        (403, 1103, ErrorKind.AUTH),
        (400, 1200, ErrorKind.INVALID_REQUEST),
        (400, 1201, ErrorKind.INVALID_REQUEST),
        (404, 1202, ErrorKind.INVALID_REQUEST),
        (404, 1203, ErrorKind.INVALID_REQUEST),
        (400, 1300, ErrorKind.CONTENT_POLICY),
        (400, 1301, ErrorKind.CONTENT_POLICY),
        (429, 1302, ErrorKind.RATE_LIMITED),
        (429, 1303, ErrorKind.RATE_LIMITED),
        (429, 1304, ErrorKind.AUTH),
        (500, 5000, ErrorKind.AMBIGUOUS),
        (503, 5001, ErrorKind.OVERLOADED),
        (504, 5002, ErrorKind.AMBIGUOUS),
        (200, 1102, ErrorKind.QUOTA_EXHAUSTED),
        (200, 1301, ErrorKind.CONTENT_POLICY),
        (200, 5000, ErrorKind.AMBIGUOUS),
        (500, 1303, ErrorKind.RATE_LIMITED),
        (418, 9999, ErrorKind.INVALID_REQUEST),
    ]:
        provider.reset()
        error = refused(provider, status=status, json={"code": code, "message": f"no {API_KEY}", "request_id": "r"})
        assert (error.kind, error.code, error.http_status, error.message) == (kind, str(code), status, "no ***")


def test_a_success_without_an_id_leaves_the_outcome_open(provider: responses.RequestsMock) -> None:
    for answer in [
        {"json": fine(None)},
        {"json": fine({"id": ""})},
        {"json": fine({"id": True})},
    ]:
        provider.reset()
        assert refused(provider, **answer).kind is ErrorKind.AMBIGUOUS, answer


def test_a_name_that_is_taken_means_that_the_job_is_there(provider: responses.RequestsMock) -> None:
    answer = {"code": 1201, "message": "external_task_id ours-1 already exists"}
    assert refused(provider, status=400, json=answer).maybe_accepted


def test_a_lost_job_is_found_by_our_name(provider: responses.RequestsMock) -> None:
    others = [newer("8", external_id="ours-11"), newer("9", external_id="ours-1")]
    provider.get(TASKS, json=fine(others))
    assert adapter.find(UPSTREAM, NAMED) == Accepted(handle=handle("9"), poll_after=10.0)
    assert parse_qsl(urlsplit(provider.calls[0].request.url or "").query) == [("external_task_ids", "ours-1")]


def test_a_lost_job_of_the_older_generation_is_found_by_our_name(provider: responses.RequestsMock) -> None:
    provider.get(f"{OLD_TEXT}/ours-1", json=fine(older("9", task_info={"external_task_id": "ours-1"})))
    found = adapter.find(OLD_UPSTREAM, NAMED)
    assert found == Accepted(handle=handle("9", "/v1/videos/text2video"), poll_after=10.0)


def test_none_is_found_where_none_is(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, json=fine([]))
    provider.get(f"{OLD_TEXT}/ours-1", status=400, json=GONE)
    assert adapter.find(UPSTREAM, NAMED) is None
    assert adapter.find(OLD_UPSTREAM, NAMED) is None
    assert adapter.find(UPSTREAM, CONNECTION) is None
    assert len(provider.calls) == 2


def test_a_fault_while_looking_is_no_answer(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, status=500)
    with pytest.raises(UpstreamError) as caught:
        adapter.find(UPSTREAM, NAMED)
    assert caught.value.kind is ErrorKind.TRANSIENT


def test_every_other_status_is_pending(provider: responses.RequestsMock) -> None:
    for status in ["submitted", "processing", "", "queueing", "SUCCEEDED"]:
        provider.reset()
        assert poll_one(provider, json=fine([newer(status=status)])) == Pending(poll_after=10.0), status


def test_a_finished_job_has_its_film(provider: responses.RequestsMock) -> None:
    film = Output(index=0, kind="video", url=FILM)
    assert poll_one(provider, json=fine([done()])) == Done(outputs=(film,), duration=5.0)


def test_a_finished_job_of_the_older_generation_has_its_film(provider: responses.RequestsMock) -> None:
    result = {"videos": [{"id": "v", "url": FILM, "duration": "10"}]}
    provider.get(f"{OLD_TEXT}/1", json=fine(older(status="succeed", task_result=result)))
    (state,) = adapter.poll([handle(path="/v1/videos/text2video")], CONNECTION)
    assert state == Done(outputs=(Output(index=0, kind="video", url=FILM),), duration=10.0)


def test_only_a_sane_length_is_reported(provider: responses.RequestsMock) -> None:
    for reported, seconds in [
        ("5.041", 5.0),
        ("10.042", 10.0),
        ("2.6", 2.6),
        ("3.5", 3.5),
        ("10.4", 10.4),
        ("0.3", 0.3),
        (5, 5.0),
        ("", None),
        (None, None),
        ("long", None),
        ("nan", None),
        ("inf", None),
        ("-1", None),
        ("1e9", None),
        (True, None),
        ([], None),
    ]:
        provider.reset()
        state = poll_one(provider, json=fine([done(duration=reported)]))
        assert isinstance(state, Done), reported
        assert state.duration == seconds, reported


def test_a_failed_job_tells_why_in_a_text(provider: responses.RequestsMock) -> None:
    for message, kind in [
        ("Failure to pass the risk control system", ErrorKind.CONTENT_POLICY),
        ("Risk Control", ErrorKind.CONTENT_POLICY),
        (f"boom {API_KEY}", ErrorKind.PROVIDER_FAILED),
        (None, ErrorKind.PROVIDER_FAILED),
    ]:
        provider.reset()
        assert kind_of(poll_one(provider, json=fine([newer(status="failed", message=message)]))) is kind, message


def test_a_failed_job_of_the_older_generation(provider: responses.RequestsMock) -> None:
    provider.get(f"{OLD_TEXT}/1", json=fine(older(status="failed", task_status_msg="risk control")))
    (state,) = adapter.poll([handle(path="/v1/videos/text2video")], CONNECTION)
    assert kind_of(state) is ErrorKind.CONTENT_POLICY


def test_a_poll_fault_says_nothing_about_the_job(provider: responses.RequestsMock) -> None:
    for answer, kind in [
        ({"json": fine(None)}, ErrorKind.TRANSIENT),
        ({"json": {"code": 1302, "message": "slow down", "data": []}}, ErrorKind.RATE_LIMITED),
        ({"json": {"code": 5000, "message": "oops", "data": []}}, ErrorKind.TRANSIENT),
        ({"status": 400, "json": {"code": 1201, "message": "task_ids invalid"}}, ErrorKind.TRANSIENT),
        ({"status": 400, "json": {"code": 1301, "message": "blocked"}}, ErrorKind.TRANSIENT),
        ({"status": 404, "json": {"code": 404, "message": "not found"}}, ErrorKind.TRANSIENT),
        ({"status": 401, "json": {"code": 1002, "message": "no"}}, ErrorKind.AUTH),
        ({"status": 429, "json": {"code": 1102, "message": "no"}}, ErrorKind.QUOTA_EXHAUSTED),
        ({"body": NoConnection("down")}, ErrorKind.TRANSIENT),
    ]:
        provider.reset()
        assert kind_of(poll_one(provider, **answer)) is kind, answer


def test_a_job_that_the_provider_does_not_know_is_an_empty_result(provider: responses.RequestsMock) -> None:
    for answer in [{"json": fine([])}, {"json": fine([newer("2")])}, {"status": 400, "json": GONE}]:
        provider.reset()
        assert kind_of(poll_one(provider, **answer)) is ErrorKind.EMPTY_RESULT, answer


def test_many_jobs_are_one_call_and_answers_keep_the_order(provider: responses.RequestsMock) -> None:
    names = [str(number) for number in range(20)]
    items = [done(name) if name == "7" else newer(name) for name in reversed(names)]
    provider.get(TASKS, json=fine([None, {}, *items]))
    states = adapter.poll([handle(name) for name in names], CONNECTION)
    assert urlsplit(provider.calls[0].request.url or "").query == f"task_ids={','.join(names)}"
    assert len(provider.calls) == 1
    assert [index for index, state in enumerate(states) if isinstance(state, Done)] == [7]
    assert adapter.poll_batch == 20


def test_a_job_that_a_batch_does_not_show_is_asked_for_alone(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, json=fine([newer("b")]))
    provider.get(TASKS, json=fine([]))
    provider.get(TASKS, json=fine([done("c")]))
    states = adapter.poll([handle(name) for name in "abc"], CONNECTION)
    assert kind_of(states[0]) is ErrorKind.EMPTY_RESULT
    assert [type(state) for state in states[1:]] == [Pending, Done]


def test_a_batch_that_is_refused_is_asked_for_one_by_one(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, status=400, json={"code": 1201, "message": "one of them is odd"})
    provider.get(TASKS, json=fine([newer("a")]))
    provider.get(TASKS, json=fine([done("b")]))
    states = adapter.poll([handle("a"), handle("b")], CONNECTION)
    assert [type(state) for state in states] == [Pending, Done]


def test_a_fault_of_the_batch_is_raised_once(provider: responses.RequestsMock) -> None:
    provider.get(TASKS, status=500)
    with pytest.raises(UpstreamError) as caught:
        adapter.poll([handle("a"), handle("b")], CONNECTION)
    assert caught.value.kind is ErrorKind.TRANSIENT
    assert len(provider.calls) == 1


def test_both_generations_are_polled_together_and_a_fault_stands_for_the_rest(
    provider: responses.RequestsMock,
) -> None:
    provider.get(f"{OLD_TEXT}/a", json=fine(older("a")))
    provider.get(f"{OLD_TEXT}/b%2Fb", status=503)
    old = "/v1/videos/text2video"
    states = adapter.poll([handle("a", old), handle("b/b", old), handle("c", old)], CONNECTION)
    assert isinstance(states[0], Pending)
    assert [kind_of(state) for state in states[1:]] == [ErrorKind.OVERLOADED] * 2
    assert len(provider.calls) == 2


def test_an_operator_attaches_by_id() -> None:
    assert adapter.attach("123", target()) == handle("123")
    assert adapter.attach("image2video/123", target(api="v1")) == handle("123", "/v1/videos/image2video")
    for bad in ("", "x\n"):
        with pytest.raises(ValueError, match="printable"):
            adapter.attach(bad, target())
    for bad in ("123", "tasks/123"):
        with pytest.raises(ValueError, match="text2video/ID"):
            adapter.attach(bad, target(api="v1"))


@pytest.mark.parametrize(
    ("api", "path"), [("v3", "/tasks?task_ids=0"), ("v1", "/v1/videos/text2video?pageNum=1&pageSize=1")]
)
def test_a_probe_buys_nothing(provider: responses.RequestsMock, api: str, path: str) -> None:
    provider.get(BASE + path, json=fine([]))
    adapter.probe(connection_to(BASE, options={"api": api}))
    assert provider.calls[0].request.url == BASE + path


@pytest.mark.parametrize("status", [401, 200])
def test_a_probe_reads_the_code_in_the_body(provider: responses.RequestsMock, status: int) -> None:
    provider.get(TASKS, status=status, json={"code": 1002, "message": "no"})
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(CONNECTION)
    assert caught.value.kind is ErrorKind.AUTH
