"""What holds for every adapter, whatever a provider answers: only the words of the interface come out, no outcome is
settled that is open, no credential is quoted, and no job ends by what a proxy says."""

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_from_bytes

import pytest
import responses
from requests import ConnectionError as NoConnection

from adapters.base import ENDS_JOB, Accepted, Connection, Done, ErrorKind, Pending, UpstreamError
from adapters.kit.jobs import LONGEST_ID
from adapters.kit.outputs import is_url
from tests.adapters.making import API_KEY, connection_to, says_nothing_secret
from tools.adapter_docs import AdapterColumn, columns

BASE = "https://provider.example.com"
FILE = f"{BASE}/file"
ANYWHERE = re.compile(".*")
EVERY = {column.name: column for modality in ("image", "video") for column in columns(modality)}
ERROR = {"code": "unknown", "type": "unknown", "message": "unknown"}
FAL = {"request_id": "j1", **{f"{name}_url": f"{BASE}/j1/{name}" for name in ("status", "response", "cancel")}}
REPLICATE = {"id": "j1", "urls": {"get": f"{BASE}/j1", "cancel": f"{BASE}/j1/cancel"}}
ARK = {"id": "j1", "status": "succeeded", "content": {"video_url": FILE}, "duration": 5, "error": ERROR}
PIXEL = "iVBORw0KGgo="
KLING_VIDEO = {"type": "video", "url": FILE, "duration": "5.04"}
KLING = {"id": "j1", "external_id": "r1", "status": "succeeded", "message": "", "outputs": [KLING_VIDEO]}
LEGACY_RESULT = {"task_result": {"videos": [KLING_VIDEO]}, "task_info": {"external_task_id": "r1"}}
LEGACY = {"task_id": "j1", "task_status": "succeed", "task_status_msg": "", **LEGACY_RESULT}
DASHSCOPE = {"task_id": "j1", "task_status": "SUCCEEDED", "video_url": FILE, "results": [{"url": FILE}]}
CHOICES = [{"message": {"content": [{"image": FILE}]}}]
PICTURES = {"data": [{"b64_json": PIXEL, "url": FILE, "respect_moderation": True, "error": ERROR}]}
INLINE = {"content": {"parts": [{"thought": False, "inlineData": {"data": PIXEL}}]}, "finishReason": "STOP"}
GEMINI = {"candidates": [INLINE], "promptFeedback": {}, "usageMetadata": {}, "error": {"details": [{"reason": ""}]}}
CONTENT = bytes(range(255, -1, -1)) * 300  # some in every letter of both alphabets, longer than is kept in memory
SAFE = base64.urlsafe_b64encode(CONTENT).decode()
WRITTEN = (
    f"data:image/png;base64,{base64.b64encode(CONTENT).decode()}",
    f"DATA:image/png;charset=utf-8;base64,{SAFE.rstrip('=')}",
    f"data:application/octet-stream,{quote_from_bytes(CONTENT)}",
)
# What each answers to a submission.
TAKEN: Mapping[str, dict[str, Any]] = {
    "openai_images": PICTURES,
    "openai_images xai": PICTURES,
    "ark_images": PICTURES,
    "openrouter_images": PICTURES,
    "gemini_generate_content": GEMINI,
    "dashscope_image": {"output": {"choices": CHOICES, "results": [{"url": FILE}]}, **ERROR},
    "dashscope_image async": {"output": DASHSCOPE, **ERROR},
    "dashscope_video": {"output": DASHSCOPE, **ERROR},
    "ark_content_tasks": {"id": "j1", "error": ERROR},
    "ark_content_tasks minimax_v2": {"task_id": "j1", "error": ERROR},
    "kling_tasks": {"code": 0, "message": "", "data": KLING},
    "kling_tasks v1": {"code": 0, "message": "", "data": LEGACY},
    "openai_videos": {"id": "j1", "status": "queued", "error": ERROR},
    "openrouter_videos": {"id": "j1", "status": "pending", "error": ERROR},
    "runway": {"id": "j1", "error": "unknown"},
    "runway router": {"id": "j1", "error": "unknown"},
    "http_template fal_image": FAL,
    "http_template fal_video": FAL,
    "http_template replicate_image": REPLICATE,
    "http_template replicate_video": REPLICATE,
}
VIDEO_JOB = {"id": "j1", "status": "completed", "progress": 50, "seconds": "5", "url": FILE, "error": ERROR}
OPENROUTER_JOB = {"id": "j1", "status": "completed", "urls": [FILE], "unsigned_urls": [FILE], "error": ERROR}
RUNWAY_JOB = {"id": "j1", "status": "SUCCEEDED", "progress": 0.5, "output": [FILE], "failure": "", "failureCode": ""}
FAL_JOB = {"status": "COMPLETED", "error": None, "images": [{"url": FILE}], "video": {"url": FILE, "duration": 5}}
# What each shows of a job that has ended well.
SHOWN: Mapping[str, dict[str, Any]] = {
    "dashscope_image async": {"output": {**DASHSCOPE, "choices": CHOICES}, "usage": {}, **ERROR},
    "dashscope_video": {"output": DASHSCOPE, "usage": {"duration": 5, "video_duration": 5}, **ERROR},
    "ark_content_tasks": ARK,
    "ark_content_tasks minimax_v2": {"task": {**ARK, "content": {"url": FILE}}},
    "kling_tasks": {"code": 0, "message": "", "data": [KLING]},
    "kling_tasks v1": {"code": 0, "message": "", "data": LEGACY},
    "openai_videos": VIDEO_JOB,
    "openrouter_videos": OPENROUTER_JOB,
    "runway": RUNWAY_JOB,
    "runway router": RUNWAY_JOB,
    "http_template fal_image": FAL_JOB,
    "http_template fal_video": FAL_JOB,
    "http_template replicate_image": {**REPLICATE, "status": "succeeded", "output": [FILE], "error": None},
    "http_template replicate_video": {**REPLICATE, "status": "succeeded", "output": FILE, "error": None},
}
# A success without a picture, and an error in its body that the protocol knows.
REFUSED_IN_A_SUCCESS: Mapping[str, dict[str, Any]] = {
    "openai_images": {"data": [], "error": {"code": "moderation_blocked", "message": "no"}},
    "openai_images xai": {"data": [], "error": "Rejected by content moderation."},
    "ark_images": {"data": [], "error": {"code": "OutputImageSensitiveContentDetected", "message": "no"}},
    "openrouter_images": {"data": [], "error": {"code": 403, "message": "Your input was flagged"}},
    "gemini_generate_content": {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}},
    "dashscope_image": {"output": {"choices": []}, "code": "DataInspectionFailed", "message": "no"},
}
FAILED_WORDS = {"succeeded": "failed", "succeed": "failed", "completed": "failed", "SUCCEEDED": "FAILED"}
WAITING_WORDS = {"succeeded": "queued", "SUCCEEDED": "PENDING", "COMPLETED": "IN_QUEUE"}
# Their results have a path of the protocol's own, whatever a job tells.
HAVE_A_PATH = ("openai_videos", "openrouter_videos")
NEVER_CANCEL = ("kling_tasks", "kling_tasks v1", *HAVE_A_PATH)
ODD: list[Any] = [
    *(None, True, 0, -1, 10**400, 1e308, float("nan"), float("-inf"), "", "\0", "x\n/../y", "\ud800", "y" * 5000),
    *("file:///etc/passwd", [], {}, [[]], [None], ["x"], {"x": {}}, [{"url": 1}], {"url": ["x"]}, "failed", "FAILED"),
]
WHOLE: list[str] = [
    *("", "null", "[]", "{}", '"x"', "1", "NaN", "<html>no</html>", "{", '{"a":', "\ufeff{}", '{"id":"a","id":"b"}'),
    *('{"error":null}', '{"error":[]}', '{"error":{"code":{},"message":[]}}', '{"x":' + "9" * 5000 + "}"),
    '{"data":[' + "{}," * 1000 + "{}]}",
]
# Successes that no protocol promises.
GARBLED = ["", "garbage", "null", "[]", "{}", '"text"', '{"data":"x"}', '{"data":null}', '{"id":""}', '{"id":true}']
GARBLED += ['{"output":null}', '{"output":{"task_id":0}}', '{"task_id":0}', '{"candidates":5}', '{"status":"queued"}']
# By the status alone: what a submit means without a code, and what a poll does.
REFUSED = {400: "invalid_request", 401: "auth", 403: "forbidden", 404: "model_unavailable"}
REFUSED |= {402: "quota_exhausted", 429: "rate_limited", 501: "forbidden"}
BUSY = (503, 529)
REDIRECTS = (300, 301, 302, 303, 304, 305, 307, 308)
OPEN = (*REDIRECTS, 408, 409, 425, 499, 500, 502, 504, 505, 520, 524, 599)
# What stands before a provider says when it has lost an answer.
OF_PROXIES = [
    *("", "<html>oops</html>", "upstream connect error or disconnect/reset before headers. reset reason: overflow"),
    *("{}", "null", "[]", '"busy"', '{"message":"no healthy upstream"}', '{"error":null}', '{"error":{}}'),
    *('{"code":503,"message":"Service Unavailable","request_id":"r1"}', '{"code":429,"message":"slow down"}'),
    '{"timestamp":"2026-11-22","status":503,"error":"Service Unavailable","path":"/v1/x"}',
]
ERROR_OBJECT = {"error": {"code": None, "type": "server_error", "message": "busy"}}
GOOGLES = {"error": {"code": 503, "message": "busy", "status": "SOMETHING_NEW"}}
DASHSCOPES = {"code": "SomethingNew", "message": "busy", "request_id": "r1"}
KLINGS = {"code": 5999, "message": "busy", "request_id": "r1"}
# An error that no table knows, in the shape in which each speaks.
OWN: Mapping[str, dict[str, Any]] = {
    "openai_images": ERROR_OBJECT,
    "openai_images xai": {"code": "Something new", "error": "busy"},
    "ark_images": {"error": {"code": "SomethingNew", "message": "busy", "param": "", "type": "x"}},
    "openrouter_images": {"error": {"code": 555, "message": "busy", "metadata": {}}},
    "gemini_generate_content": GOOGLES,
    "dashscope_image": DASHSCOPES,
    "dashscope_image async": DASHSCOPES,
    "dashscope_video": DASHSCOPES,
    "ark_content_tasks": {"error": {"code": "SomethingNew", "message": "busy"}},
    "ark_content_tasks minimax_v2": {"type": "error", "error": {"type": "new", "message": "busy", "http_code": "503"}},
    "kling_tasks": KLINGS,
    "kling_tasks v1": KLINGS,
    "openai_videos": ERROR_OBJECT,
    "openrouter_videos": {"error": {"code": 555, "message": "busy"}},
    "runway": {"error": "busy"},
    "runway router": {"error": "busy"},
    "http_template fal_image": {"detail": "busy", "error_type": "something_new"},
    "http_template fal_video": {"detail": "busy", "error_type": "something_new"},
    "http_template replicate_image": {"title": "busy", "detail": "busy", "status": 503},
    "http_template replicate_video": {"title": "busy", "detail": "busy", "status": 503},
}
POLL_FAULTS = {**dict.fromkeys((200, 400, 404, 408, 409, 425, 499, 500, 504), "transient"), 401: "auth"}
POLL_FAULTS |= {
    301: "forbidden",
    402: "quota_exhausted",
    403: "forbidden",
    429: "rate_limited",
    **dict.fromkeys(BUSY, "overloaded"),
}
HUGE: list[str] = ["[" * 100_000, '{"a":' * 50_000, '{"id":"' + "x" * 10_000_000 + '"}']
# Of nginx, of load balancers, of API gateways, of a framework's router.
PROXIED = [
    *("<html>404</html>", "{}", '{"message":"no Route matched"}', '{"code":404,"message":"page not found"}'),
    '{"status":404,"error":"Not Found","path":"/x"}',
    '{"error":{"code":"not_found","message":"no such path"}}',
    '{"message":"Cannot GET /v1/tasks/j1"}',
    '{"error":"no route to /v1/tasks/j1"}',
    '{"error":{"message":"Invalid URL (GET /v1/videos/j1)","type":"invalid_request_error"}}',
    '{"detail":"Route GET:/v1/videos/j1 not found"}',
]


@dataclass(frozen=True)
class Spoken:
    """One adapter and how to reach it."""

    column: AdapterColumn
    connection: Connection

    def submitted(self) -> Accepted | Done | UpstreamError:
        upstream = self.column.adapter.build(self.column.base, self.column.target)
        try:
            return self.column.adapter.submit(upstream, self.connection)
        except UpstreamError as error:
            return error

    def shown(self, *ids: str) -> Any:
        """The state of the first of these jobs."""
        try:
            return self.column.adapter.poll([self.handle(job_id) for job_id in ids or ("j1",)], self.connection)[0]
        except UpstreamError as error:
            return error

    def handle(self, job_id: str) -> Mapping[str, Any]:
        named = f"text2video/{job_id}" if self.column.name == "kling_tasks v1" else job_id
        handle = dict(self.column.adapter.attach(named, self.column.target))
        told = {"status": f"{BASE}/{job_id}/status", "result": f"{BASE}/{job_id}/result"}
        return {**handle, **told} if self.column.adapter.protocol == "http_template" else handle


def spoken(name: str, folder: Path) -> Spoken:
    column = EVERY[name]
    options = column.target.options
    return Spoken(column, connection_to(BASE, options=options, scratch_dir=folder, reference="r1"))


def mutants(document: Any) -> Iterator[Any]:
    """The document with something odd in one place, for every place."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield {each: item for each, item in document.items() if each != name}
            yield from ({**document, name: mutant} for mutant in [*ODD, *mutants(value)])
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from ([*document[:index], mutant, *document[index + 1 :]] for mutant in [*ODD, *mutants(value)])


def replying(provider: responses.RequestsMock, answer: str, status: int = 200, **headers: str) -> None:
    for method in ("GET", "POST", "PUT", "DELETE"):
        provider.add(method, ANYWHERE, body=answer.encode(), status=status, headers=headers)


def told(
    provider: responses.RequestsMock, ask: Callable[[], Any], answer: Any, status: int = 200, **headers: str
) -> Any:
    """What an adapter makes of an answer: JSON, or the text of a body."""
    provider.reset()
    replying(provider, answer if isinstance(answer, str) else json.dumps(answer), status, **headers)
    return ask()


def insist_on_words(outcome: object) -> None:
    """What comes out is of the interface, storable, and quotes no credential."""
    match outcome:
        case UpstreamError():
            for text in (outcome.message, outcome.code, outcome.request_id):
                assert isinstance(text, str)
                assert "\0" not in text
                text.encode()
            assert len(outcome.code) <= 200
            assert says_nothing_secret(outcome)
        case Accepted():
            assert len(json.dumps(dict(outcome.handle)).encode()) < 16_000
            assert outcome.handle["id"]
            assert 0 < outcome.poll_after < 3600
        case Pending():
            assert outcome.progress is None or 0 <= outcome.progress <= 100
            assert 0 < outcome.poll_after < 3600
        case Done():
            assert outcome.outputs
            assert all(output.path or is_url(output.url) for output in outcome.outputs)
            assert [output.index for output in outcome.outputs] == list(range(len(outcome.outputs)))
            assert outcome.duration is None or (math.isfinite(outcome.duration) and outcome.duration > 0)
        case _:
            pytest.fail(f"no word of the interface: {outcome!r}")


@pytest.fixture
def provider() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def failed(name: str) -> dict[str, Any]:
    """The answer about a job that has ended badly."""
    document: dict[str, Any] = reworded(SHOWN[name], FAILED_WORDS)
    return document | ({"error": "unknown", "error_type": "unknown"} if "template" in name else {})


def reworded(document: Any, words: Mapping[str, Any]) -> Any:
    """The document with other values for some of its texts."""
    text = json.dumps(document)
    for word, other in words.items():
        text = text.replace(json.dumps(word), json.dumps(other))
    return json.loads(text)


def answers(document: dict[str, Any]) -> list[str]:
    """Every eleventh of the odd ones: all of them say no more and take eleven times as long."""
    return [*map(json.dumps, mutants(document)), *WHOLE][5::11]


def quoting(document: Any, text: str) -> Any:
    """The document with this text for each that says nothing."""
    if isinstance(document, dict):
        return {name: quoting(value, text) for name, value in document.items()}
    if isinstance(document, list):
        return [quoting(value, text) for value in document]
    return text if document in ("unknown", "") else document


@pytest.mark.parametrize("name", TAKEN)
def test_odd_answers_to_a_submission(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    for answer in [*answers(TAKEN[name]), *HUGE]:
        insist_on_words(told(provider, asked.submitted, answer))


@pytest.mark.parametrize("name", SHOWN)
def test_odd_answers_about_a_job(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    for answer in [*answers(SHOWN[name]), *answers(failed(name))]:
        insist_on_words(told(provider, asked.shown, answer))


def test_every_adapter_is_here() -> None:
    assert set(TAKEN) == set(EVERY)


def test_the_examples_are_what_they_are_said_to_be(tmp_path: Path, provider: responses.RequestsMock) -> None:
    for name in TAKEN:
        asked = spoken(name, tmp_path)
        assert isinstance(told(provider, asked.submitted, TAKEN[name]), Accepted if name in SHOWN else Done), name
        if name in SHOWN:
            assert isinstance(told(provider, asked.shown, SHOWN[name]), Done), name
            assert told(provider, asked.shown, failed(name)).kind is ErrorKind.PROVIDER_FAILED, name


def test_a_success_without_pictures_is_what_it_says(tmp_path: Path, provider: responses.RequestsMock) -> None:
    for name, document in REFUSED_IN_A_SUCCESS.items():
        error = told(provider, spoken(name, tmp_path).submitted, document)
        assert isinstance(error, UpstreamError), name
        assert error.kind is ErrorKind.CONTENT_POLICY, name


def test_a_job_may_have_a_number_for_a_name(tmp_path: Path, provider: responses.RequestsMock) -> None:
    for name in SHOWN:
        asked = spoken(name, tmp_path)
        accepted = told(provider, asked.submitted, json.dumps(TAKEN[name]).replace('"j1"', "71"))
        assert isinstance(accepted, Accepted), name
        assert accepted.handle["id"] == "71", name
        shown = json.dumps(SHOWN[name]).replace('"j1"', "71")
        assert isinstance(told(provider, partial(asked.shown, "71"), shown), Done), name


def test_a_job_may_have_a_long_name(tmp_path: Path, provider: responses.RequestsMock) -> None:
    for name, long in product(SHOWN, ("a" * 312, "b" * LONGEST_ID, "/" * LONGEST_ID)):
        asked = spoken(name, tmp_path)
        addressed = json.dumps(TAKEN[name]).replace("/j1", f"/{quote(long, safe='')}")
        accepted = told(provider, asked.submitted, addressed.replace('"j1"', json.dumps(long)))
        assert isinstance(accepted, Accepted), (name, accepted)
        assert accepted.handle["id"] == long, name
        shown = json.dumps(SHOWN[name]).replace('"j1"', json.dumps(long))
        provider.reset()
        replying(provider, shown)
        (state,) = asked.column.adapter.poll([accepted.handle], asked.connection)
        assert isinstance(state, Done), name
        assert asked.handle(long)["id"] == long, name


@pytest.mark.parametrize("name", [name for name in SHOWN if name not in HAVE_A_PATH])
def test_success_without_a_result_is_an_empty_result(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for odd in ("", "x\0", "file:///etc/passwd", None, [], {}, [None]):
        assert told(provider, asked.shown, reworded(SHOWN[name], {FILE: odd})).kind is ErrorKind.EMPTY_RESULT, odd


def test_a_result_is_kept_however_loosely_its_address_is_spelled(
    tmp_path: Path, provider: responses.RequestsMock
) -> None:
    loose = " https://files.example.com/f\u00e4 \u732b.mp4?name=a b#part "
    words = {FILE: loose, PIXEL: None}
    told_by = {**{name: document for name, document in TAKEN.items() if name not in SHOWN}, **SHOWN}
    for name, document in told_by.items():
        if FILE not in json.dumps(document):
            continue
        asked = spoken(name, tmp_path)
        done = told(provider, asked.shown if name in SHOWN else asked.submitted, reworded(document, words))
        assert isinstance(done, Done), name
        assert loose in [output.url for output in done.outputs], name


def test_a_result_may_stand_in_the_answer_itself(tmp_path: Path, provider: responses.RequestsMock) -> None:
    told_by = {**{name: document for name, document in TAKEN.items() if name not in SHOWN}, **SHOWN}
    for name, document in told_by.items():
        if FILE not in json.dumps(document):
            continue
        asked = spoken(name, tmp_path)
        for written in WRITTEN:
            words = {FILE: written, PIXEL: None}
            done = told(provider, asked.shown if name in SHOWN else asked.submitted, reworded(document, words))
            assert isinstance(done, Done), (name, done)
            for output in done.outputs:
                with asked.column.adapter.open_output(output, asked.connection) as chunks:
                    assert b"".join(chunks) == CONTENT, (name, written[:40])


@pytest.mark.parametrize("name", [name for name in TAKEN if PIXEL in json.dumps(TAKEN[name])])
def test_base64_is_read_in_either_alphabet(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    for encoded in (SAFE, SAFE.rstrip("="), SAFE.replace("-", "+"), f"data:image/png;base64,{SAFE}"):
        done = told(provider, asked.submitted, reworded(TAKEN[name], {PIXEL: encoded, FILE: None}))
        assert isinstance(done, Done), (name, done)
        assert [output.path and output.path.read_bytes() for output in done.outputs] == [CONTENT], encoded[:40]


def test_a_jobs_id_is_quoted_in_its_address(tmp_path: Path, provider: responses.RequestsMock) -> None:
    for name in SHOWN:
        told(provider, partial(spoken(name, tmp_path).shown, "a/../b"), SHOWN[name])
        assert "template" in name or "a%2F..%2Fb" in (provider.calls[0].request.url or ""), name


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_not_confirmed_is_not_cancelled(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    handle = asked.handle("j1") if name in SHOWN else {"id": "j1"}
    refusals: list[dict[str, Any]] = [{"status": 400}, {"status": 404}, {"status": 500}, {"body": NoConnection("down")}]
    for refusal in [*refusals, *([{"status": 200}] if name in NEVER_CANCEL else [])]:
        provider.reset()
        provider.get(ANYWHERE, json=reworded(SHOWN.get(name, {}), WAITING_WORDS))
        for method in ("POST", "PUT", "DELETE"):
            provider.add(method, ANYWHERE, **refusal)
        assert asked.column.adapter.cancel(handle, asked.connection) is False, refusal


@pytest.mark.parametrize("name", SHOWN)
def test_a_failed_job_has_words_that_can_be_kept_and_shown(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for text in ("y" * 5000, f"the key {API_KEY} is bad", "\0\ud800"):
        insist_on_words(told(provider, asked.shown, quoting(failed(name), text)))


@pytest.mark.parametrize("name", TAKEN)
def test_no_refusal_quotes_a_credential(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    fields = {"message": API_KEY, "type": API_KEY, "status": API_KEY, "detail": API_KEY, "title": API_KEY}
    for document in ({"error": {"code": API_KEY, **fields}}, {"code": API_KEY, **fields, "error": API_KEY}):
        insist_on_words(told(provider, asked.submitted, document, 400))
        if name in SHOWN:
            insist_on_words(asked.shown())


@pytest.mark.parametrize("name", TAKEN)
def test_what_may_have_been_bought_is_left_open(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    for answer, status in [
        *product([*OF_PROXIES, OWN[name]], OPEN),
        *product(OF_PROXIES, BUSY),
        *product(GARBLED, (200,)),
    ]:
        assert told(provider, asked.submitted, answer, status).kind is ErrorKind.AMBIGUOUS, (status, answer)
        assert len(provider.calls) == 1


@pytest.mark.parametrize("name", TAKEN)
def test_the_redirect_of_a_purchase_is_left_open_whatever_its_body_says(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for status, code in product(REDIRECTS, [*asked.column.adapter.error_codes][:3] or ["unauthorized"]):
        errors = {"code": code, "type": code, "status": code, "message": f"{code}: no"}
        document = {"error": errors, **errors, "detail": f"{code}: no"}
        wait = {"Location": f"{BASE}/elsewhere", "Retry-After": "7"}
        error = told(provider, asked.submitted, document, status, **wait)
        assert error.kind is ErrorKind.AMBIGUOUS, (status, code)
        assert len(provider.calls) == 1, status


@pytest.mark.parametrize("name", TAKEN)
def test_a_busy_provider_is_believed_only_in_its_own_words_or_with_a_wait(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for status in BUSY:
        assert told(provider, asked.submitted, OWN[name], status).kind is ErrorKind.OVERLOADED, status
        for answer in OF_PROXIES:
            waited = told(provider, asked.submitted, answer, status, **{"Retry-After": "7"})
            assert (waited.kind, waited.retry_after) == (ErrorKind.OVERLOADED, 7), answer
        illegible = told(provider, asked.submitted, "", status, **{"Retry-After": "soon"})
        assert illegible.kind is ErrorKind.AMBIGUOUS, status
    for status in OPEN:
        waited = told(provider, asked.submitted, OWN[name], status, **{"Retry-After": "7"})
        assert waited.kind is ErrorKind.AMBIGUOUS, status


@pytest.mark.parametrize("name", TAKEN)
def test_what_was_surely_not_bought_is_not_left_open(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for status, kind in REFUSED.items():
        error = told(provider, asked.submitted, "<html>no</html>", status, **{"Retry-After": "7"})
        assert isinstance(error, UpstreamError)
        assert (error.kind, error.http_status, error.retry_after) == (kind, status, 7), status


@pytest.mark.parametrize("name", SHOWN)
def test_a_fault_of_a_poll_says_nothing_about_the_job(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for status, kind in POLL_FAULTS.items():
        for answer in ("", "<html>oops</html>", "[]"):
            assert told(provider, asked.shown, answer, status).kind == kind, (status, answer)


@pytest.mark.parametrize("name", SHOWN)
def test_no_proxy_ends_a_job(name: str, tmp_path: Path, provider: responses.RequestsMock) -> None:
    asked = spoken(name, tmp_path)
    for answer in PROXIED:
        for status in (400, 404, 410):
            error = told(provider, asked.shown, answer, status)
            assert isinstance(error, UpstreamError)
            assert error.kind not in ENDS_JOB, (status, answer)


@pytest.mark.parametrize("name", SHOWN)
def test_an_answer_about_something_else_does_not_end_a_job(
    name: str, tmp_path: Path, provider: responses.RequestsMock
) -> None:
    asked = spoken(name, tmp_path)
    for answer in ("{}", "null", "[]", '{"data":[{}]}', '{"code":0,"data":[null,{"id":"j1"}]}', '{"output":{}}'):
        for outcome in (told(provider, asked.shown, answer), asked.shown("j1", "j2")):
            is_open = isinstance(outcome, UpstreamError) and outcome.kind not in ENDS_JOB
            assert is_open or isinstance(outcome, Pending), answer
