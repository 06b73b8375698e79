"""The DashScope image protocol: at once and as jobs, and how strict the sandbox is."""

from dataclasses import replace

import pytest

from adapters.base import Accepted, Done, ErrorKind, ImageRef
from tests.adapters.dashscope.test_images import ASYNC, SYNC
from tests.adapters.making import stored
from tests.sandbox.driving import check_keys

GOOD = {"model": "m", "input": {"messages": [{"role": "user", "content": [{"text": "a fox"}]}]}}


@pytest.fixture
def dashscope(caller):
    return caller("dashscope_image", "/dashscope/api/v1", "image", "qwen-image-3.0", options={"mode": "sync"})


@pytest.fixture
def jobs(dashscope):
    return replace(dashscope, options={"mode": "async", "poll_seconds": 0.2})


def test_pictures_at_once(dashscope):
    images = (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/a.png"))
    made = dashscope.pictures(n=2, aspect_ratio="16:9", images=images, extra_body={"seed": 1})
    assert [size for _, size in made] == [(1360, 768)] * 2
    assert isinstance(dashscope.submit(), Done)


def test_pictures_as_a_job(jobs):
    assert isinstance(jobs.submit(), Accepted)
    assert [size for _, size in jobs.pictures(n=2)] == [(1024, 1024)] * 2


def test_keys_are_told_apart(dashscope):
    check_keys(dashscope, probe_knows=("wrong", "broke"))


def test_only_a_job_that_has_not_begun_is_cancelled(jobs):
    cancel = jobs.speaks.cancel
    waiting = jobs.handle(prompt="[queued=99999]")
    assert cancel(waiting, jobs.connection)
    assert jobs.ended(waiting).code == "CANCELED"
    assert not cancel(waiting, jobs.connection)
    assert not cancel({"id": "no-such-job"}, jobs.connection)
    assert jobs.ended({"id": "no-such-job"}).kind is ErrorKind.EMPTY_RESULT


def test_the_sandbox_is_strict(dashscope):
    for changes, status, code in (
        ({"parameters": {"n": 7}}, 400, "InvalidParameter"),
        ({"parameters": {"size": "1024x1024"}}, 400, "InvalidParameter"),
        ({"parameters": {"size": "4096*4096"}}, 400, "InvalidParameter"),
        ({"parameters": {"colour": "red"}}, 400, "InvalidParameter"),
        ({"prompt": "a fox"}, 400, "InvalidParameter"),
        ({"input": {"messages": []}}, 400, "InvalidParameter"),
        ({"input": {"messages": [{"role": "user", "content": [{"image": "x"}]}]}}, 400, "InvalidParameter"),
        ({"model": "no-such-model"}, 404, "ModelNotFound"),
    ):
        answer = dashscope.post(SYNC, GOOD | changes)
        assert (answer.status_code, answer.json()["code"]) == (status, code), changes
    assert dashscope.bought() == 0


def test_each_path_has_its_own_way(dashscope):
    for path, more in ((ASYNC, {}), (SYNC, {"X_DashScope_Async": "enable"})):
        answer = dashscope.post(path, GOOD, **more)
        assert (answer.status_code, answer.json()["code"]) == (403, "AccessDenied")
