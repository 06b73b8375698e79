"""Jobs of described providers: submits, words for states, results, cancellations, and which addresses are followed."""

import json
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
import responses
from requests import ConnectionError as NoConnection

from adapters.base import Accepted, Done, ErrorKind, ImageRef, Output, Pending, UpstreamError
from tests.adapters.making import API_KEY, image_request, says_nothing_secret, stored, video_request
from tests.adapters.raw_server import answer, raw_server
from tests.adapters.template.templates import BASE, JOB, adapter, changed, connected, target_of

FILM = "https://cdn.example.com/film.mp4?sig=1"
FILMS = f"{BASE}/films"
HANDLE = {"id": "f1"}
FAL = "https://queue.fal.run"
REQUEST = f"{FAL}/fal-ai/flux/requests/r1"
TOLD = {"id": "r1", "status": f"{REQUEST}/status", "result": REQUEST, "cancel": f"{REQUEST}/cancel"}
REPLICATE = "https://api.replicate.com/v1"


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def job(state: object = "working", **more: Any) -> dict[str, Any]:
    return {"job": {"id": "f1", "state": state} | more}


def polled(template: object = JOB, base_url: str = BASE, handle: Any = HANDLE) -> Pending | Done | UpstreamError:
    (state,) = adapter.poll([handle], connected(template, base_url))
    return state


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def submitted(template: object = JOB, base_url: str = BASE) -> Any:
    upstream = adapter.build(video_request(), target_of(template, "video"))
    return adapter.submit(upstream, connected(template, base_url))


def refused(template: object = JOB) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        submitted(template)
    assert says_nothing_secret(caught.value)
    return caught.value


def test_a_submit_sends_the_body_with_the_templates_headers(provider: responses.RequestsMock) -> None:
    provider.post(FILMS, json={"job": {"id": "f1"}}, status=202)
    assert submitted() == Accepted(handle=HANDLE, poll_after=3.0)
    sent = provider.calls[0].request
    assert (sent.headers["X-Key"], sent.headers["Content-Type"]) == (API_KEY, "application/json")
    assert "Authorization" not in sent.headers
    assert json.loads(sent.body or b"")["seconds"] == 5


def test_an_id_may_be_a_number_and_the_method_another(provider: responses.RequestsMock) -> None:
    provider.put(FILMS, json={"job": {"id": 17}})
    template = JOB | {"submit": JOB["submit"] | {"method": "PUT"}}
    assert submitted(template).handle == {"id": "17"}


def test_fal_tells_its_addresses_and_they_are_kept(provider: responses.RequestsMock) -> None:
    told = {"request_id": "r1", "status": "IN_QUEUE", "queue_position": 0, "status_url": TOLD["status"]}
    told |= {"response_url": TOLD["result"], "cancel_url": TOLD["cancel"]}
    provider.post(f"{FAL}/fox-1", json=told)
    assert submitted("fal_video", FAL) == Accepted(handle=TOLD, poll_after=5.0)
    assert provider.calls[0].request.headers["Authorization"] == f"Key {API_KEY}"


def test_a_told_address_is_kept_as_it_is_asked_for(provider: responses.RequestsMock) -> None:
    urls = {"get": f" {REPLICATE}/predictions/p 1#now", "cancel": f"{REPLICATE}/predictions/\u00e4"}
    provider.post(f"{REPLICATE}/models/fox-1/predictions", status=201, json={"id": "p1", "urls": urls})
    handle = submitted("replicate_video", REPLICATE).handle
    assert handle["status"] == f"{REPLICATE}/predictions/p%201"
    assert handle["cancel"] == f"{REPLICATE}/predictions/%C3%A4"


def test_replicate_tells_its_addresses_too(provider: responses.RequestsMock) -> None:
    urls = {"get": f"{REPLICATE}/predictions/p1", "cancel": f"{REPLICATE}/predictions/p1/cancel"}
    provider.post(f"{REPLICATE}/models/fox-1/predictions", status=201, json={"id": "p1", "urls": urls})
    accepted = submitted("replicate_video", REPLICATE)
    assert accepted.handle == {"id": "p1", "status": urls["get"], "cancel": urls["cancel"]}
    assert provider.calls[0].request.headers["Authorization"] == f"Bearer {API_KEY}"


def test_our_own_pictures_go_out_inline() -> None:
    template = changed(JOB, modalities=["image"], submit={"path": "/films", "body": {"pics": "{images}"}})
    picture = b"\x89PNG\r\n\x1a\n" + b"x" * 8
    request = image_request(images=(ImageRef(stored=stored()),))
    for pictures, start in (("data_url", b"data:image/png;base64,iVBOR"), ("base64", b"iVBOR")):
        with raw_server(answer(b'{"job": {"id": "f1"}}')) as server:
            own = template | {"pictures": pictures}
            upstream = adapter.build(request, target_of(own))
            adapter.submit(upstream, connected(own, server.url, files={"one": picture}))
        assert b'{"pics": ["' + start in server.requests[0]


def test_a_success_without_a_job_is_no_success(provider: responses.RequestsMock) -> None:
    for body, kind in [
        ('{"job": {}}', ErrorKind.AMBIGUOUS),
        ('{"job": {"id": ""}}', ErrorKind.AMBIGUOUS),
        ('{"error": {"code": "something"}}', ErrorKind.AMBIGUOUS),
        ('{"error": {"code": "nsfw"}}', ErrorKind.CONTENT_POLICY),
        ('{"error": {"code": "no_money"}}', ErrorKind.QUOTA_EXHAUSTED),
    ]:
        provider.reset()
        provider.post(FILMS, body=body)
        assert refused().kind is kind, body


def test_a_job_that_cannot_be_asked_for_is_no_success(provider: responses.RequestsMock) -> None:
    template = JOB | {"status": JOB["status"] | {"url": "job.url"}}
    provider.post(FILMS, json={"job": {"id": "f1", "url": "ftp://x"}})
    assert refused(template).kind is ErrorKind.AMBIGUOUS


def test_a_refused_submit(provider: responses.RequestsMock) -> None:
    for status, error, kind in [
        (400, {"code": "nsfw"}, ErrorKind.CONTENT_POLICY),
        (500, {"code": "nsfw"}, ErrorKind.CONTENT_POLICY),
        (429, {"code": "no_money"}, ErrorKind.QUOTA_EXHAUSTED),
        (403, {"message": "Please PAY UP now"}, ErrorKind.QUOTA_EXHAUSTED),
        (422, {"message": "'pay up' is no good prompt"}, ErrorKind.INVALID_REQUEST),
        (422, {"message": "Indecent!"}, ErrorKind.CONTENT_POLICY),
        (409, {"message": "busy"}, ErrorKind.OVERLOADED),
        (400, {"code": "closed"}, ErrorKind.MODEL_UNAVAILABLE),
        (400, {"code": "else"}, ErrorKind.INVALID_REQUEST),
        (500, {"code": "else"}, ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        provider.post(FILMS, status=status, json={"error": error})
        failure = refused()
        assert (failure.kind, failure.http_status) == (kind, status), (status, error)
        assert len(provider.calls) == 1, (status, error)


def test_a_refused_connection_bought_nothing(provider: responses.RequestsMock) -> None:
    provider.post(FILMS, body=NoConnection("down"))
    assert refused().kind is ErrorKind.TRANSIENT


def test_a_lost_answer_leaves_open_what_was_bought() -> None:
    with raw_server(lambda connection, _: None) as server, pytest.raises(UpstreamError) as caught:
        submitted(JOB, server.url)
    assert caught.value.kind is ErrorKind.AMBIGUOUS


def test_a_credential_quoted_by_the_provider_is_not_told(provider: responses.RequestsMock) -> None:
    provider.post(FILMS, status=401, json={"error": {"message": f"bad key {API_KEY}"}})
    assert refused().message == "bad key ***"
    provider.get(f"{FILMS}/f1", json=job("broken", error={"message": f"{API_KEY} is spent"}))
    assert kind_of(polled()) is ErrorKind.PROVIDER_FAILED


def test_an_unfinished_job_is_pending(provider: responses.RequestsMock) -> None:
    for state, share, progress in [
        ("waiting", None, None),
        ("working", 0.5, 50),
        ("dreaming", 1, 100),
        ("working", 7, 100),
        ("working", "x", None),
    ]:
        provider.reset()
        provider.get(f"{FILMS}/f1", json=job(state, share=share))
        assert polled() == Pending(poll_after=3.0, progress=progress), (state, share)


def test_the_operator_sets_the_pace(provider: responses.RequestsMock) -> None:
    provider.get(f"{FILMS}/f1", json=job())
    connection = replace(connected(JOB), options={"template": JOB, "poll_seconds": 0.2})
    assert adapter.poll([HANDLE], connection) == [Pending(poll_after=0.2)]


def test_a_jobs_id_is_quoted_in_the_path(provider: responses.RequestsMock) -> None:
    provider.get(f"{FILMS}/a%2F..%2Fb", json=job())
    assert isinstance(polled(handle={"id": "a/../b"}), Pending)


def test_a_finished_job_has_its_films_and_length(provider: responses.RequestsMock) -> None:
    files = [{"url": FILM}, {"url": ""}, {"url": "x\0"}, {}, {"url": FILM + "2"}]
    provider.get(f"{FILMS}/f1", json=job("ready", files=files, length=5))
    outputs = (Output(index=0, kind="video", url=FILM), Output(index=1, kind="video", url=FILM + "2"))
    assert polled() == Done(outputs=outputs, duration=5.0)


def test_only_a_sane_length_is_reported(provider: responses.RequestsMock) -> None:
    for length, seconds in [(0, None), ("long", None), (3.5, 3.5), ("3.5", 3.5), ("5", 5.0)]:
        provider.reset()
        provider.get(f"{FILMS}/f1", json=job("ready", files=[{"url": FILM}], length=length))
        state = polled()
        assert isinstance(state, Done), length
        assert state.duration == seconds, length


def test_success_without_a_film_is_an_empty_result(provider: responses.RequestsMock) -> None:
    for files in [None, [], {}, [{}], [{"url": "file:///etc/passwd"}]]:
        provider.reset()
        provider.get(f"{FILMS}/f1", json=job("ready", files=files))
        assert kind_of(polled()) is ErrorKind.EMPTY_RESULT, files


def test_a_job_that_ended_badly(provider: responses.RequestsMock) -> None:
    for state, error, kind in [
        ("broken", {"code": "else", "message": "m"}, ErrorKind.PROVIDER_FAILED),
        ("broken", {"code": "nsfw"}, ErrorKind.CONTENT_POLICY),
        ("broken", {"message": "an indecent fox"}, ErrorKind.CONTENT_POLICY),
        ("broken", {"code": "no_money"}, ErrorKind.PROVIDER_FAILED),
        ("broken", None, ErrorKind.PROVIDER_FAILED),
        ("gone", None, ErrorKind.PROVIDER_FAILED),
        ("ready", {"code": "nsfw"}, ErrorKind.CONTENT_POLICY),
    ]:
        provider.reset()
        provider.get(f"{FILMS}/f1", json=job(state, error=error))
        assert kind_of(polled()) is kind, (state, error)


def test_a_poll_fault_says_nothing_about_the_job(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (200, '{"job": {}}', ErrorKind.TRANSIENT),
        (400, '{"error": {"code": "nsfw"}}', ErrorKind.TRANSIENT),
        (404, '{"error": {"code": "closed"}}', ErrorKind.TRANSIENT),
        (500, '{"error": {"message": "no such film"}}', ErrorKind.TRANSIENT),
        (404, '{"error": {"message": "No such film."}}', ErrorKind.EMPTY_RESULT),
        (410, '{"error": {"code": "no such film"}}', ErrorKind.EMPTY_RESULT),
    ]:
        provider.reset()
        provider.get(f"{FILMS}/f1", status=status, body=body)
        assert kind_of(polled()) is kind, (status, body)


def fal_polled(provider: responses.RequestsMock, shown: Any, **result: Any) -> Pending | Done | UpstreamError:
    provider.get(TOLD["status"], json=shown, status=200 if shown["status"] == "COMPLETED" else 202)
    if result:
        provider.get(TOLD["result"], **result)
    return polled("fal_video", FAL, TOLD)


def detail(kind: str, message: str = "m") -> dict[str, Any]:
    return {"detail": [{"loc": ["body", "prompt"], "msg": message, "type": kind}]}


def test_fal_runs(provider: responses.RequestsMock) -> None:
    for word in ["IN_QUEUE", "IN_PROGRESS", "SOMETHING_NEW"]:
        provider.reset()
        assert fal_polled(provider, {"status": word}) == Pending(poll_after=5.0), word


def test_fals_result_is_at_an_address_of_its_own(provider: responses.RequestsMock) -> None:
    state = fal_polled(provider, {"status": "COMPLETED"}, json={"video": {"url": FILM, "duration": 4.2}})
    assert state == Done(outputs=(Output(index=0, kind="video", url=FILM),), duration=4.2)


@pytest.mark.parametrize("result", [{"images": [{"url": FILM}]}, {"image": {"url": FILM}}])
def test_fals_pictures_come_in_two_forms(provider: responses.RequestsMock, result: Any) -> None:
    provider.get(TOLD["status"], json={"status": "COMPLETED"})
    provider.get(TOLD["result"], json=result)
    assert polled("fal_image", FAL, TOLD) == Done(outputs=(Output(index=0, kind="image", url=FILM),))


def test_fals_documented_errors_of_a_result(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (422, detail("content_policy_violation"), ErrorKind.CONTENT_POLICY),
        (422, detail("file_download_error"), ErrorKind.ASSET_UNREACHABLE),
        (422, detail("image_load_error"), ErrorKind.ASSET_UNREACHABLE),
        (422, detail("no_media_generated"), ErrorKind.EMPTY_RESULT),
        (422, detail("image_too_large"), ErrorKind.INVALID_REQUEST),
        (422, detail("missing"), ErrorKind.INVALID_REQUEST),
        (400, {"detail": "bad input"}, ErrorKind.INVALID_REQUEST),
        (500, detail("internal_server_error"), ErrorKind.PROVIDER_FAILED),
        (504, detail("generation_timeout"), ErrorKind.PROVIDER_FAILED),
        (500, detail("downstream_service_error"), ErrorKind.PROVIDER_FAILED),
        (503, {"detail": "x", "error_type": "runner_disconnected"}, ErrorKind.PROVIDER_FAILED),
        (504, {"detail": "x", "error_type": "request_timeout"}, ErrorKind.PROVIDER_FAILED),
        (404, {"detail": "Request not found"}, ErrorKind.EMPTY_RESULT),
        (404, {"detail": "Not Found"}, ErrorKind.TRANSIENT),
        (400, "<html>", ErrorKind.TRANSIENT),
        (401, {"detail": "Cannot access application"}, ErrorKind.AUTH),
        (429, {"detail": "Too many"}, ErrorKind.RATE_LIMITED),
        (500, {"detail": "oops"}, ErrorKind.TRANSIENT),
        (200, {"video": None}, ErrorKind.EMPTY_RESULT),
        (200, "<html>", ErrorKind.TRANSIENT),
    ]:
        provider.reset()
        assert kind_of(fal_polled(provider, {"status": "COMPLETED"}, status=status, json=body)) is kind, (status, body)


def test_fal_may_complete_with_an_error(provider: responses.RequestsMock) -> None:
    for error, kind in [
        ({"error": "boom", "error_type": "runner_server_error"}, ErrorKind.PROVIDER_FAILED),
        ({"error": "boom"}, ErrorKind.PROVIDER_FAILED),
        ({"error_type": "content_policy_violation"}, ErrorKind.CONTENT_POLICY),
    ]:
        provider.reset()
        assert kind_of(fal_polled(provider, {"status": "COMPLETED", "logs": None} | error)) is kind, error


def test_fals_documented_errors_of_a_submit(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (401, {"detail": "Cannot access application"}, ErrorKind.AUTH),
        (403, {"detail": "User is locked. Reason: Exhausted balance."}, ErrorKind.QUOTA_EXHAUSTED),
        (403, {"detail": "Forbidden"}, ErrorKind.FORBIDDEN),
        (404, {"detail": "Application 'x' not found"}, ErrorKind.MODEL_UNAVAILABLE),
        (422, detail("content_policy_violation"), ErrorKind.CONTENT_POLICY),
        (422, detail("value_error", "user is locked"), ErrorKind.INVALID_REQUEST),
        (429, {"detail": "Too many requests"}, ErrorKind.RATE_LIMITED),
        (503, {"detail": "x", "error_type": "runner_scheduling_failure"}, ErrorKind.OVERLOADED),
        (504, {"detail": "x", "error_type": "request_timeout"}, ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        provider.post(f"{FAL}/fox-1", status=status, json=body)
        with pytest.raises(UpstreamError) as caught:
            submitted("fal_video", FAL)
        assert caught.value.kind is kind, (status, body)


def replicated(provider: responses.RequestsMock, **prediction: Any) -> Pending | Done | UpstreamError:
    provider.get(f"{REPLICATE}/predictions/p1", json={"id": "p1", "error": None} | prediction)
    return polled("replicate_image", REPLICATE, {"id": "p1", "status": f"{REPLICATE}/predictions/p1"})


def test_replicate_runs(provider: responses.RequestsMock) -> None:
    for word in ["starting", "processing", "something new"]:
        provider.reset()
        assert replicated(provider, status=word, output=None) == Pending(poll_after=2.0), word


def test_replicates_output_comes_in_many_forms(provider: responses.RequestsMock) -> None:
    for output in [FILM, [FILM], {"image": FILM}, {"url": FILM}, [{"url": FILM}]]:
        provider.reset()
        state = replicated(provider, status="succeeded", output=output)
        assert state == Done(outputs=(Output(index=0, kind="image", url=FILM),)), output


def test_replicates_ends(provider: responses.RequestsMock) -> None:
    for status, error, kind in [
        ("failed", "CUDA out of memory", ErrorKind.PROVIDER_FAILED),
        ("failed", "NSFW content detected. Try running it again", ErrorKind.CONTENT_POLICY),
        ("failed", "The input or output was flagged as sensitive. (E005)", ErrorKind.CONTENT_POLICY),
        ("canceled", None, ErrorKind.PROVIDER_FAILED),
        ("aborted", None, ErrorKind.PROVIDER_FAILED),
        ("succeeded", None, ErrorKind.EMPTY_RESULT),
    ]:
        provider.reset()
        assert kind_of(replicated(provider, status=status, error=error, output=None)) is kind, (status, error)


def test_replicates_documented_errors(provider: responses.RequestsMock) -> None:
    for status, title, message, kind in [
        (401, "Unauthenticated", "You did not pass a valid authentication token", ErrorKind.AUTH),
        (402, "Insufficient credit", "You have insufficient credit to run this model", ErrorKind.QUOTA_EXHAUSTED),
        (404, "Not found", "The requested resource could not be found.", ErrorKind.MODEL_UNAVAILABLE),
        (422, "Input validation failed", "- input: prompt is required", ErrorKind.INVALID_REQUEST),
        (429, "Too many requests", "Request was throttled.", ErrorKind.RATE_LIMITED),
        (500, "Internal server error", "", ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        body = {"title": title, "detail": message, "status": status}
        provider.post(f"{REPLICATE}/models/fox-1/predictions", status=status, json=body)
        with pytest.raises(UpstreamError) as caught:
            submitted("replicate_video", REPLICATE)
        assert caught.value.kind is kind, (status, title, message)
        assert caught.value.message == message or title in caught.value.message, (status, title, message)


def test_replicate_forgets_a_prediction(provider: responses.RequestsMock) -> None:
    body = {"title": "Not found", "detail": "The requested resource could not be found.", "status": 404}
    provider.get(f"{REPLICATE}/predictions/p1", status=404, json=body)
    handle = adapter.attach("p1", target_of("replicate_video", "video"))
    assert kind_of(polled("replicate_video", REPLICATE, handle)) is ErrorKind.EMPTY_RESULT


def test_only_an_unfinished_job_is_cancelled(provider: responses.RequestsMock) -> None:
    for state, is_canceled in [("waiting", True), ("working", True), ("ready", False), ("gone", False)]:
        provider.reset()
        provider.get(f"{FILMS}/f1", json=job(state))
        if is_canceled:
            provider.post(f"{FILMS}/f1/stop", status=204)
        assert adapter.cancel(HANDLE, connected(JOB)) is is_canceled, state


@pytest.mark.parametrize(("word", "is_canceled"), [("IN_QUEUE", True), ("IN_PROGRESS", False)])
def test_fal_confirms_a_cancellation_only_in_its_queue(
    provider: responses.RequestsMock, word: str, is_canceled: bool
) -> None:
    provider.get(TOLD["status"], json={"status": word})
    if is_canceled:
        provider.put(TOLD["cancel"], status=202, json={"status": "CANCELLATION_REQUESTED"})
    assert adapter.cancel(TOLD, connected("fal_image", FAL)) is is_canceled


def test_a_refused_cancellation_is_no_exception(provider: responses.RequestsMock) -> None:
    provider.get(f"{FILMS}/f1", json=job())
    provider.post(f"{FILMS}/f1/stop", status=400)
    assert adapter.cancel(HANDLE, connected(JOB)) is False
    assert adapter.cancel(HANDLE, connected(changed(JOB, cancel=None))) is False


ELSEWHERE = JOB | {"status": JOB["status"] | {"url": "job.url"}, "cancel": {"url": "job.stop"}}


def test_an_address_of_another_host_is_not_followed(provider: responses.RequestsMock) -> None:
    for address in [
        "https://evil.example.net/status",
        "http://api.example.com/v1/status",
        "https://api.example.com:444/status",
        "https://api.example.com@evil.example.net/status",
        "https://api.example.com.evil.net/",
    ]:
        provider.reset()
        state = polled(ELSEWHERE | {"hosts": ["status.example.net"]}, BASE, {"id": "f1", "status": address})
        assert kind_of(state) is ErrorKind.TRANSIENT, address
        assert "hosts does not list" in str(state), address
        handle = {"id": "f1", "status": f"{FILMS}/f1", "cancel": address}
        provider.get(f"{FILMS}/f1", json=job())
        assert adapter.cancel(handle, connected(ELSEWHERE)) is False, address
        assert len(provider.calls) == 1, address


@pytest.mark.parametrize("host", ["127.0.0.1:9443", "127.0.0.1"])
def test_a_listed_host_is_asked_without_the_key(provider: responses.RequestsMock, host: str) -> None:
    provider.get(f"https://{host}/s", json=job("ready", files=[{"url": FILM}]))
    state = polled(ELSEWHERE | {"hosts": [host]}, BASE, {"id": "f1", "status": f"https://{host}/s"})
    assert isinstance(state, Done)
    assert not any(API_KEY in value for value in provider.calls[0].request.headers.values())


def test_a_listed_hosts_refusals_are_read_too(provider: responses.RequestsMock) -> None:
    template, handle = ELSEWHERE | {"hosts": ["127.0.0.1"]}, {"id": "f1", "status": "https://127.0.0.1/s"}
    provider.get("https://127.0.0.1/s", status=404, json={"error": {"message": "no such film"}})
    assert kind_of(polled(template, BASE, handle)) is ErrorKind.EMPTY_RESULT
    provider.replace("GET", "https://127.0.0.1/s", status=302, headers={"Location": f"{FILMS}/f1"})
    assert kind_of(polled(template, BASE, handle)) is ErrorKind.TRANSIENT


def test_a_listed_host_says_nothing_about_the_channels_key(provider: responses.RequestsMock) -> None:
    for status in [401, 402, 403]:
        provider.reset()
        template, handle = ELSEWHERE | {"hosts": ["127.0.0.1"]}, {"id": "f1", "status": "https://127.0.0.1/s"}
        provider.get("https://127.0.0.1/s", status=status)
        assert kind_of(polled(template, BASE, handle)) is ErrorKind.TRANSIENT, status


def test_without_paths_an_error_is_read_in_the_usual_shapes(provider: responses.RequestsMock) -> None:
    for body in [
        {"error": {"type": "nsfw", "message": "m"}},
        {"error": "m", "code": "nsfw"},
        {"code": "nsfw", "message": "m"},
    ]:
        provider.reset()
        provider.post(FILMS, status=400, json=body)
        error = refused(JOB | {"error": {"map": {"nsfw": "content_policy"}}})
        assert (error.kind, error.code, error.message) == (ErrorKind.CONTENT_POLICY, "nsfw", "m"), body


def test_a_text_tells_of_a_request_that_may_have_run_only_with_the_status_it_names(
    provider: responses.RequestsMock,
) -> None:
    """It may quote the prompt. The result of a job that is known already is told by its text as ever."""
    said = {"error": {"message": "could not finish 'an indecent fox'"}}
    for status, rule, kind in [
        (400, {}, ErrorKind.CONTENT_POLICY),
        (500, {}, ErrorKind.AMBIGUOUS),
        (409, {}, ErrorKind.AMBIGUOUS),
        (500, {"status": 500}, ErrorKind.CONTENT_POLICY),
        (502, {"status": 500}, ErrorKind.AMBIGUOUS),
    ]:
        texts = [{"contains": "indecent", "kind": "content_policy", **rule}]
        template = JOB | {"error": {"message": "error.message", "texts": texts}}
        provider.reset()
        provider.post(FILMS, status=status, json=said)
        assert refused(template).kind is kind, (status, rule)


def test_a_template_names_further_statuses_that_are_surely_refusals(provider: responses.RequestsMock) -> None:
    for status, kind in [(409, "overloaded"), (500, "transient"), (503, "overloaded"), (504, "rate_limited")]:
        provider.reset()
        provider.post(FILMS, status=status, body="")
        assert refused(JOB | {"error": {"map": {str(status): kind}}}).kind == kind


def test_an_error_is_the_providers_own_by_its_shape_or_by_where_its_code_stands(
    provider: responses.RequestsMock,
) -> None:
    root, below = {"code": "code", "message": "message"}, {"code": "error.code", "message": "error.message"}
    for error, body, is_own in [
        ({}, {"error": {"message": "busy"}}, True),
        ({}, {"message": "no healthy upstream"}, False),
        (root, {"code": "busy", "message": "later"}, True),
        (root, {"code": 503, "message": "no healthy upstream"}, False),
        (root, {"message": "no healthy upstream"}, False),
        (below, {"error": {"code": 503}}, True),
        (below, {"error": {"message": "busy"}}, False),
        ({"message": "message"}, {"message": "no healthy upstream"}, False),
        ({"message": "error.message"}, {"error": {"message": "busy"}}, True),
        (root | {"shape": ["message", "trace"]}, {"message": "later", "trace": "t1"}, True),
        (root | {"shape": ["message", "trace"]}, {"code": "busy", "message": "later"}, False),
    ]:
        provider.reset()
        provider.post(FILMS, status=503, json=body)
        kind = ErrorKind.OVERLOADED if is_own else ErrorKind.AMBIGUOUS
        assert refused(JOB | {"error": error}).kind is kind, (error, body)


def test_below_a_host_is_not_the_host_itself() -> None:
    template = ELSEWHERE | {"hosts": ["*.example.net"]}
    for address in ("https://example.net/s", "https://evilexample.net/s"):
        state = polled(template, BASE, {"id": "f1", "status": address})
        assert "hosts does not list" in str(state)


def test_files_come_only_from_hosts_that_are_listed_if_any_are() -> None:
    template = JOB | {"file_hosts": ["*.example.com"]}
    with pytest.raises(UpstreamError) as caught:
        adapter.open_output(Output(index=0, kind="video", url="https://x.example.net/f"), connected(template))
    assert caught.value.kind is ErrorKind.EMPTY_RESULT
    with raw_server(answer(b"film")) as server:
        output = Output(index=0, kind="video", url=f"{server.url}/f.mp4")
        with adapter.open_output(output, connected(template, server.url)) as chunks:
            assert b"".join(chunks) == b"film"
    assert f"X-Key: {API_KEY}".encode() in server.requests[0]
    output = Output(index=0, kind="image", url="data:;base64,Zm94")  # is fetched from nowhere
    with adapter.open_output(output, connected(template)) as chunks:
        assert b"".join(chunks) == b"fox"


def test_a_listed_file_host_may_be_spelled_loosely() -> None:
    template = JOB | {"file_hosts": ["127.0.0.1"]}
    for address in (" https://127.0.0.1/a b.mp4#part ", "https://127.0.0.1/\u00e4.mp4"):
        output = Output(index=0, kind="video", url=address)
        connection = connected(template, deny_networks=(ip_network("127.0.0.0/8"),))
        with pytest.raises(UpstreamError, match="operator has closed"), adapter.open_output(output, connection):
            pass


def test_a_missing_credential_is_a_matter_of_the_channel() -> None:
    upstream = adapter.build(video_request(), target_of(JOB, "video"))
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(upstream, connected(JOB, credentials={"token": "x"}))
    assert caught.value.kind is ErrorKind.AUTH


def test_a_probe_that_is_answered_passes(provider: responses.RequestsMock) -> None:
    for status in [200, 404, 422]:
        provider.reset()
        provider.get(f"{BASE}/account", status=status)
        adapter.probe(connected(JOB))
        assert provider.calls[0].request.headers["X-Key"] == API_KEY, status


@pytest.mark.parametrize(("status", "kind"), [(401, ErrorKind.AUTH), (402, ErrorKind.QUOTA_EXHAUSTED)])
def test_a_probe_says_why_a_channel_cannot_be_used(
    provider: responses.RequestsMock, status: int, kind: ErrorKind
) -> None:
    provider.get(f"{BASE}/account", status=status)
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(connected(JOB))
    assert caught.value.kind is kind


def test_a_template_that_is_gone_is_a_fault_and_no_end() -> None:
    (state,) = adapter.poll([HANDLE], connected("gone"))
    assert kind_of(state) is ErrorKind.TRANSIENT
