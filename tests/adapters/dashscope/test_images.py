"""The DashScope image protocol: requests, bills, refusals, errors, and jobs."""

import base64
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
import responses

from adapters import expression
from adapters.base import Accepted, Billed, ErrorKind, ImageRef, Pending, Target, UpstreamError
from adapters.dashscope.images import DashScopeImage
from adapters.dashscope.images_request import SIZES
from adapters.kit.sizes import pixels
from tests.adapters.making import API_KEY, PNG, connection_to, image_request, says_nothing_secret, stored
from tests.adapters.posting import posted

BASE = "https://dashscope.example.com/api/v1"
SYNC = "/services/aigc/multimodal-generation/generation"
ASYNC = "/services/aigc/image-generation/generation"
URL = "https://oss.example.com/a.png?Signature=x"
adapter = DashScopeImage()


def target(mode: str = "sync", **capabilities: Any) -> Target:
    return Target(
        adapter="dashscope_image",
        base_url=BASE,
        upstream_model="qwen-image-3.0",
        capabilities=capabilities,
        options={"mode": mode},
    )


def parameters_of(**fields: Any) -> dict[str, Any]:
    return dict(adapter.build(image_request(**fields), target()).body["parameters"])


def answered(answer: Any, status: int = 200, mode: str = "sync", **changes: Any) -> Any:
    """What a submit makes of an answer."""
    upstream = adapter.build(image_request(), target(mode))
    return posted(adapter, upstream, connection_to(BASE, **changes), status=status, answer=answer)


def choice(*urls: object) -> dict[str, Any]:
    return {"finish_reason": "stop", "message": {"role": "assistant", "content": [{"image": url} for url in urls]}}


def polled(answer: Any, status: int = 200, **changes: Any) -> Any:
    """The state of one job, with what is raised as a value."""
    with responses.RequestsMock() as provider:
        more = {"body": answer} if isinstance(answer, str) else {"json": answer}
        provider.get(f"{BASE}/tasks/job%2F1", status=status, **more)
        (state,) = adapter.poll([{"id": "job/1"}], connection_to(BASE, **changes))
    if isinstance(state, UpstreamError):
        assert says_nothing_secret(state)
    return state


def job(status: str, **output: Any) -> dict[str, Any]:
    return {"request_id": "r", "output": {"task_id": "job/1", "task_status": status, **output}}


def test_the_least_request() -> None:
    upstream = adapter.build(image_request(image_size=None, aspect_ratio=None), target())
    assert (upstream.path, upstream.files, upstream.calls) == (SYNC, (), 1)
    assert upstream.body == {
        "model": "qwen-image-3.0",
        "input": {"messages": [{"role": "user", "content": [{"text": "a fox"}]}]},
        "parameters": {"n": 1, "watermark": False},
    }
    assert upstream.billed == Billed(count=1, tier=None)


def test_everything_at_once() -> None:
    images = (ImageRef(url="https://x.example.com/a.png"), ImageRef(stored=stored("a")))
    extra = {"negative_prompt": "blur", "prompt_extend": False, "seed": 7, "watermark": True}
    upstream = adapter.build(
        image_request(n=2, image_size="2K", aspect_ratio="16:9", images=images, extra_body=extra), target()
    )
    connection = connection_to(BASE, files={"a": PNG}, options={"workspace": "ws-1"})
    sent = posted(adapter, upstream, connection, answer={"output": {"choices": [choice(URL)]}})
    data_url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    content = [{"image": "https://x.example.com/a.png"}, {"image": data_url}, {"text": "a fox"}]
    assert sent.body == {
        "model": "qwen-image-3.0",
        "input": {"messages": [{"role": "user", "content": content}]},
        "parameters": {"n": 2, "size": "2720*1536", **extra},
    }
    assert upstream.billed == Billed(count=2, tier="2K")
    assert sent.headers["Authorization"] == f"Bearer {API_KEY}"
    assert sent.headers["X-DashScope-WorkSpace"] == "ws-1"
    assert "X-DashScope-Async" not in sent.headers


def test_a_job_is_asked_for_at_its_own_path() -> None:
    sent = answered(job("PENDING"), mode="async", options={"poll_seconds": 3})
    assert sent.outcome == Accepted(handle={"id": "job/1"}, poll_after=3.0)
    assert sent.headers["X-DashScope-Async"] == "enable"
    assert "X-DashScope-WorkSpace" not in sent.headers
    assert adapter.build(image_request(), target("async")).path == ASYNC
    assert (adapter.submit_seconds(target()), adapter.submit_seconds(target("async"))) == (None, 120.0)


def test_the_final_size_decides_the_billed_tier() -> None:
    for extra, size, tier in [
        ({"size": "1536*1024"}, "1536*1024", "2K"),
        ({"size": "1024*1024"}, "1024*1024", "1K"),
        ({"size": "2K"}, "2K", "2K"),
        ({"size": "4096*4096"}, "4096*4096", None),
        ({"size": "4K"}, "4K", None),
        ({"size": 5}, 5, None),
        ({}, "1024*1024", "1K"),
    ]:
        upstream = adapter.build(image_request(extra_body=extra), target())
        assert (upstream.body["parameters"]["size"], upstream.billed.tier) == (size, tier), (extra, size)


def test_a_count_of_extra_body_is_billed_wherever_it_stands() -> None:
    for extra, sent, count, field in [
        ({"n": 4}, 4, 4, "params.extra_body.n"),
        ({"parameters": {"n": 4}}, 4, 4, "params.extra_body.parameters.n"),
        ({"n": 4, "parameters": {}}, 4, 4, "params.extra_body.n"),
        ({"parameters": {"enable_sequential": True}}, None, 12, "params.extra_body.parameters.n"),
        ({"parameters": {}, "enable_sequential": True}, None, 12, "params.extra_body.parameters.n"),
        ({"enable_sequential": True}, 2, 2, "params.n"),
    ]:
        request = image_request(n=2, extra_body=extra)
        assert expression.check(adapter, request, target()) == [], extra
        upstream = adapter.build(request, target())
        assert upstream.body["parameters"].get("n") == sent, extra
        assert (upstream.billed.count, upstream.billed.count_field) == (count, field), extra


def test_without_a_count_the_number_is_that_which_the_model_makes_by_itself() -> None:
    request = image_request(n=2, extra_body={"parameters": {"size": "2048*2048"}})
    for model, count in [("qwen-image-3.0", 1), ("z-image-turbo", 1), ("wan2.6-t2i", 4), ("unheard-of", None)]:
        where = replace(target(), upstream_model=model)
        fields = [problem.field for problem in expression.check(adapter, request, where)]
        assert fields == ([] if count else ["params.extra_body.parameters.n"]), model
        assert not count or adapter.build(request, where).billed.count == count, model


def test_parameters_of_extra_body_replace_ours_whole() -> None:
    for parameters, tier in [
        ({"n": 2, "size": "2048*2048"}, "2K"),
        ({"n": 2, "size": "1100*1100"}, "2K"),
        ({"n": 2}, None),
    ]:
        request = image_request(image_size="8K", extra_body={"parameters": parameters})
        assert expression.check(adapter, request, target()) == [], parameters
        upstream = adapter.build(request, target())
        assert (upstream.body["parameters"], upstream.billed) == (parameters, Billed(count=2, tier=tier)), parameters


def test_a_setting_by_its_own_name_goes_into_the_parameters_and_the_rest_to_the_root() -> None:
    upstream = adapter.build(image_request(extra_body={"seed": 7, "unheard_of": 1, "parameters": {"n": 1}}), target())
    assert upstream.body["parameters"] == {"n": 1, "seed": 7}
    assert upstream.body["unheard_of"] == 1
    assert upstream.body["model"] == "qwen-image-3.0"


def test_an_input_of_extra_body_stands_for_prompt_and_images_and_changes_no_bill() -> None:
    picture = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    given = {"messages": [{"role": "user", "content": [{"image": picture}, {"text": "an owl"}]}]}
    for mode in ("sync", "async"):
        request = image_request(n=2, images=(ImageRef(stored=stored()),), extra_body={"input": given, "size": "2K"})
        assert expression.check(adapter, request, target(mode)) == [], mode
        upstream = adapter.build(request, target(mode))
        assert (upstream.body["input"], upstream.files) == (given, ())
        assert upstream.billed == Billed(count=2, tier="2K")


def test_a_size_table_of_the_capabilities_replaces_the_protocols() -> None:
    where = target(size_table={"4K": {"1:1": "4096x4096"}})
    upstream = adapter.build(image_request(image_size="4K"), where)
    assert (upstream.body["parameters"]["size"], upstream.billed.tier) == ("4096*4096", "4K")


def test_every_size_suits_the_provider() -> None:
    for row in SIZES.values():
        assert all(512**2 <= (pixels(size) or 0) <= 2048**2 for size in row.values()), row


def test_what_cannot_be_expressed_names_its_field() -> None:
    for changes, capabilities, field in [
        ({"image_size": "4K"}, {}, "params.image_size"),
        ({"aspect_ratio": "8:1"}, {}, "params.aspect_ratio"),
        ({"n": 7}, {"max_n": 12}, "params.n"),
        ({"n": 13, "extra_body": {"enable_sequential": True}}, {}, "params.n"),
        ({"extra_body": {"n": 0}}, {}, "params.extra_body.n"),
        ({"images": (ImageRef(url="https://x.example.com/"),) * 11}, {}, "params.images"),
        ({"images": (ImageRef(stored=stored(content_type="image/gif")),)}, {}, "params.images[0].image_url"),
        ({"extra_body": {"model": "dearest"}}, {}, "params.extra_body.model"),
        ({"extra_body": {"input": []}}, {}, "params.extra_body.input"),
        ({"extra_body": {"input": {"max_images": 5}}}, {}, "params.extra_body.input.max_images"),
        ({"extra_body": {"parameters": []}}, {}, "params.extra_body.parameters"),
        ({"extra_body": {"parameters": {"n": None}}}, {}, "params.extra_body.parameters.n"),
        ({"extra_body": {"parameters": {"n": 7}}}, {}, "params.extra_body.parameters.n"),
        ({"extra_body": {"parameters": {"n": 3}}}, {"max_n": 2}, "params.extra_body.parameters.n"),
        ({"extra_body": {"parameters": {"n": True}}}, {}, "params.extra_body.parameters.n"),
        ({"extra_body": {"parameters": {"n": 1, "model": "x"}}}, {}, "params.extra_body.parameters.model"),
        (
            {"extra_body": {"parameters": {"n": 1, "enable_interleave": True}}},
            {},
            "params.extra_body.parameters.enable_interleave",
        ),
        ({"extra_body": {"n": 2, "parameters": {"n": 3}}}, {}, "params.extra_body.n"),
        ({"extra_body": {"seed": 1, "parameters": {"n": 3, "seed": True}}}, {}, "params.extra_body.seed"),
        ({"extra_body": {"enable_sequential": "true"}}, {}, "params.extra_body.enable_sequential"),
        (
            {"extra_body": {"parameters": {"n": 1, "enable_sequential": 1}}},
            {},
            "params.extra_body.parameters.enable_sequential",
        ),
        ({"extra_body": {"seed": 2, "parameters": {"n": 3, "seed": 3}}}, {}, "params.extra_body.seed"),
        ({"extra_body": {"prompt": "a cat"}}, {}, "params.extra_body.prompt"),
        ({"extra_body": {"stream": True}}, {}, "params.extra_body.stream"),
        ({"extra_body": {"enable_interleave": True}}, {}, "params.extra_body.enable_interleave"),
        ({"extra_body": {"max_images": 5}}, {}, "params.extra_body.max_images"),
    ]:
        problems = expression.check(adapter, image_request(**changes), target(**capabilities))
        assert [problem.field for problem in problems] == [field], (changes, capabilities)


def test_what_can_be_expressed_passes() -> None:
    for changes in [
        {"n": 6, "image_size": "2K", "aspect_ratio": "9:21"},
        {"n": 12, "extra_body": {"enable_sequential": True}},
        {"image_size": "3K", "extra_body": {"size": "2K"}},
    ]:
        assert expression.check(adapter, image_request(**changes), target()) == [], changes


def test_what_pictures_there_are_count() -> None:
    for output in [
        {"choices": [choice(URL), choice("javascript:x"), choice(URL)]},
        {"choices": [choice(URL, URL, None), {"message": None}, None]},
        {"results": [{"url": URL}, {"code": "DataInspectionFailed", "message": "no"}, {"url": URL}]},
    ]:
        at_once = answered({"output": output}).outcome
        later = polled(job("SUCCEEDED", **output))
        for done in (at_once, later):
            assert [(item.index, item.kind, item.url) for item in done.outputs] == [
                (0, "image", URL),
                (1, "image", URL),
            ], output


def test_no_picture_at_all_is_an_empty_result() -> None:
    for output in [{"choices": []}, {"choices": [choice()]}, {"results": [{}]}]:
        assert answered({"output": output}).outcome.kind is ErrorKind.EMPTY_RESULT, output
        assert polled(job("SUCCEEDED", **output)).kind is ErrorKind.EMPTY_RESULT, output


def test_a_job_that_succeeds_with_nothing_but_refused_pictures_is_refused() -> None:
    state = polled(job("SUCCEEDED", results=[{"code": "DataInspectionFailed", "message": f"no {API_KEY}"}]))
    assert (state.kind, state.message) == (ErrorKind.CONTENT_POLICY, "no ***")


ERRORS = [
    (401, "InvalidApiKey", ErrorKind.AUTH),
    (403, "AccessDenied", ErrorKind.AUTH),
    (403, "AccessDenied.Unpurchased", ErrorKind.AUTH),
    (403, "Workspace.AccessDenied", ErrorKind.AUTH),
    (403, "Model.AccessDenied", ErrorKind.MODEL_UNAVAILABLE),
    (404, "ModelNotFound", ErrorKind.MODEL_UNAVAILABLE),
    (400, "Arrearage", ErrorKind.QUOTA_EXHAUSTED),
    (403, "AllocationQuota.FreeTierOnly", ErrorKind.QUOTA_EXHAUSTED),
    (429, "PrepaidBillOverdue", ErrorKind.QUOTA_EXHAUSTED),
    (429, "Throttling", ErrorKind.RATE_LIMITED),
    (429, "Throttling.RateQuota", ErrorKind.RATE_LIMITED),
    (400, "Throttling.AllocationQuota", ErrorKind.RATE_LIMITED),
    (400, "DataInspectionFailed", ErrorKind.CONTENT_POLICY),
    (400, "IPInfringementSuspect", ErrorKind.CONTENT_POLICY),
    (400, "InvalidParameter", ErrorKind.INVALID_REQUEST),
    (500, "InvalidParameter.Size", ErrorKind.INVALID_REQUEST),
    (400, "InvalidParameter.DataInspection", ErrorKind.ASSET_UNREACHABLE),
    (400, "InvalidURL.Timeout", ErrorKind.ASSET_UNREACHABLE),
    (503, "ModelUnavailable", ErrorKind.OVERLOADED),
    (500, "InternalError", ErrorKind.AMBIGUOUS),
    (500, "InternalError.Algo", ErrorKind.AMBIGUOUS),
    (408, "RequestTimeOut", ErrorKind.AMBIGUOUS),
    (504, "ResponseTimeout", ErrorKind.AMBIGUOUS),
    (200, "DataInspectionFailed", ErrorKind.CONTENT_POLICY),
    (200, "Arrearage", ErrorKind.QUOTA_EXHAUSTED),
    (200, "Unheard", ErrorKind.AMBIGUOUS),
]


def test_errors() -> None:
    """Half of them by an answer at once and half by a job: both ask the same table."""
    for (status, code, kind), mode in zip(ERRORS, cycle(("sync", "async")), strict=False):
        error = answered({"code": code, "message": f"no {API_KEY}", "request_id": "r"}, status, mode).outcome
        assert (error.kind, error.code, error.message) == (kind, code, "no ***"), (status, code)


def test_a_job_that_has_not_ended_is_pending() -> None:
    for status in ["PENDING", "RUNNING", "SUSPENDED", "PAUSED", ""]:
        assert polled(job(status), options={"poll_seconds": 2}) == Pending(poll_after=2.0), status


def test_a_job_that_has_ended_says_why() -> None:
    for answer, kind in [
        (job("CANCELED"), ErrorKind.PROVIDER_FAILED),
        (job("UNKNOWN"), ErrorKind.EMPTY_RESULT),
        (job("FAILED"), ErrorKind.PROVIDER_FAILED),
        (job("FAILED", code="InternalError.Algo", message="x"), ErrorKind.PROVIDER_FAILED),
        (job("FAILED", code="Throttling", message="x"), ErrorKind.PROVIDER_FAILED),
        (job("FAILED", code="DataInspectionFailed", message="x"), ErrorKind.CONTENT_POLICY),
        (job("FAILED", code="InvalidParameter.Size", message="x"), ErrorKind.INVALID_REQUEST),
        (job("FAILED", code="InvalidURL.Timeout", message="x"), ErrorKind.ASSET_UNREACHABLE),
        (job("FAILED", code="InternalError") | {"code": "DataInspectionFailed"}, ErrorKind.CONTENT_POLICY),
    ]:
        assert polled(answer).kind is kind, answer


def test_a_fault_of_a_poll_says_nothing_about_the_job() -> None:
    for status, answer, kind in [
        (400, {"code": "InvalidParameter", "message": "no"}, ErrorKind.TRANSIENT),
        (400, {"code": "DataInspectionFailed", "message": "no"}, ErrorKind.TRANSIENT),
        (500, {"code": "InternalError", "message": f"no {API_KEY}"}, ErrorKind.TRANSIENT),
        (200, {"output": {"task_status": 5}}, ErrorKind.TRANSIENT),
        (401, {"code": "InvalidApiKey", "message": "no"}, ErrorKind.AUTH),
        (429, {"code": "Throttling", "message": "no"}, ErrorKind.RATE_LIMITED),
    ]:
        assert polled(answer, status).kind is kind, (status, answer)


def test_cancelling_never_raises() -> None:
    for status, confirmed in [(200, True), (400, False), (500, False)]:
        with responses.RequestsMock() as provider:
            provider.post(f"{BASE}/tasks/job-1/cancel", status=status, json={"request_id": "r"})
            assert adapter.cancel({"id": "job-1"}, connection_to(BASE)) is confirmed, status


def test_only_a_channel_with_jobs_attaches_one() -> None:
    assert adapter.attach("job-1", target("async")) == {"id": "job-1"}
    with pytest.raises(ValueError, match="at once"):
        adapter.attach("job-1", target())


def test_the_probe_asks_for_a_job_that_is_not_there() -> None:
    with responses.RequestsMock() as provider:
        provider.get(f"{BASE}/tasks/00000000-0000-0000-0000-000000000000", json=job("UNKNOWN"))
        adapter.probe(connection_to(BASE))
