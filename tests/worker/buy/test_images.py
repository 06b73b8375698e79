"""A synchronous image task through every mood of its provider."""

from urllib.parse import urlsplit

import pytest
from django.db import OperationalError

from adapters.base import ErrorKind, UpstreamError
from billing.models import Hold
from common import redaction
from tasks import paid_calls
from tests.worker.driving import assets, call, outage, picture, task
from worker.buy.failed_calls import described

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]


def test_an_image_is_bought_once_stored_and_charged(shift, key, sandbox):
    task_id = picture(key, "a fox", n=2)
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).actual_micros == 80_000
    assert [asset.content_type for asset in assets(task_id)] == ["image/png"] * 2
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_an_intent_that_was_committed_unseen_is_paid_once(shift, key, sandbox, monkeypatch):
    intend = paid_calls.intend

    def unseen(*arguments):
        monkeypatch.setattr(paid_calls, "intend", intend)
        intend(*arguments)
        raise OperationalError("the connection broke")

    monkeypatch.setattr(paid_calls, "intend", unseen)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_urls_instead_of_bytes_are_fetched_from_the_channels_own_origin(shift, key):
    task_id = picture(key, "a fox [url]", n=2)
    assert shift.work(task_id) == "succeeded"
    assert len(assets(task_id)) == 2


BAD_ANSWERS = {  # how the task ends, whether it may be retried, its call's state, and how many jobs were bought
    "[fail]": ("TASK_UPSTREAM_REJECTED", False, "refused", 0),
    "[status=418]": ("TASK_UPSTREAM_REJECTED", False, "refused", 0),
    "[status=404]": ("TASK_UPSTREAM_REJECTED", False, "refused", 0),
    "[moderated]": ("TASK_CONTENT_REJECTED", False, "refused", 0),
    "[moderated-output]": ("TASK_CONTENT_REJECTED", False, "refused", 0),
    "[status=500]": ("TASK_OUTCOME_UNKNOWN", True, "unknown", 0),
    "[status=502]": ("TASK_OUTCOME_UNKNOWN", True, "unknown", 0),
    "[status=504]": ("TASK_OUTCOME_UNKNOWN", True, "unknown", 0),
    "[garbage]": ("TASK_OUTCOME_UNKNOWN", True, "unknown", 1),
    "[reset]": ("TASK_OUTCOME_UNKNOWN", True, "unknown", 1),
    "[status=401]": ("TASK_UPSTREAM_ERROR", True, "refused", 0),
}


def test_a_bad_answer_ends_the_task_and_releases_its_hold(shift, key, sandbox):
    for word, (error, is_retryable, state, jobs) in BAD_ANSWERS.items():
        task_id = picture(key, f"a fox {word}")
        assert shift.work(task_id) == error, word
        ended = task(task_id)
        assert (ended.status, ended.actual_micros, ended.error["retryable"]) == ("failed", 0, is_retryable), word
        assert Hold.objects.get(reference=task_id).state == "released", word
        assert call(task_id).state == state, word
        assert sandbox.audit()["by_prompt"].get(f"a fox {word}", 0) == jobs, word


def test_the_client_reads_our_words_and_the_operator_the_providers(shift, key):
    task_id = picture(key, "a fox [moderated]")
    shift.work(task_id)
    said = call(task_id).outcome["message"]
    assert said
    assert said not in task(task_id).error["message"]
    assert "studio" not in str(task(task_id).error)


def test_what_an_adapter_quotes_can_be_stored():
    error = UpstreamError(ErrorKind.RATE_LIMITED, "a\0b\ud800", code="\0", request_id="\udfff")
    assert str(error).endswith("ab?")
    quoted = described(error)
    assert (quoted["message"], quoted["code"], quoted["request_id"]) == ("ab?", "", "?")


def test_a_credential_that_a_provider_echoes_in_code_or_request_id_is_not_kept():
    redaction.redact("hunter2-hunter2-hunter2")
    echoed = "key hunter2-hunter2-hunter2"
    found = described(UpstreamError(ErrorKind.TRANSIENT, "no", code=echoed, request_id=echoed))
    assert (found["code"], found["request_id"]) == ("key [redacted]", "key [redacted]")


def test_a_rate_limit_is_waited_for(shift, key, sandbox):
    task_id = picture(key, "a fox [rate-limited=2]")
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).requeues == 2
    assert sandbox.audit()["jobs"] == 1


def test_an_overloaded_provider_is_waited_for(shift, key, sandbox):
    outage(sandbox, path="/openai/", status=503, times=3, retry_after=1)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).requeues == 3


def test_only_the_delivered_images_are_charged(shift, key):
    task_id = picture(key, "a fox [partial]", n=3)
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).actual_micros == 80_000
    assert task(task_id).estimated_micros == 120_000
    assert len(assets(task_id)) == 2


def test_pictures_that_cannot_be_had_are_no_success(shift, key, sandbox):
    task_id = picture(key, "a fox [url][download:status=410]")
    assert shift.work(task_id) == "TASK_UPSTREAM_ERROR"
    assert call(task_id).outcome["kind"] == "copy_failed"
    assert sandbox.audit()["jobs"] == 1


def test_a_failed_copy_is_tried_again_without_buying_again(shift, key, sandbox):
    task_id = picture(key, "a fox [url][download:reset=1][download:fail=2][download:garbage=1]")
    assert shift.work(task_id) == "succeeded"
    assert call(task_id).copy_faults == 4
    assert sandbox.audit()["jobs"] == 1


def test_one_picture_that_cannot_be_had_does_not_cost_the_others(shift, key, sandbox):
    task_id = picture(key, "a fox [url]", n=3)
    shift.execute()
    lost = urlsplit(call(task_id).result["outputs"][1]["url"]).path
    outage(sandbox, path=lost, status=410, times=100)
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).actual_micros == 80_000
    assert [asset.position for asset in assets(task_id)] == [0, 1]
    assert "410" in str(call(task_id).outcome["flags"])


def test_nothing_of_a_finished_call_is_left_in_the_temporary_folders(shift, key, root, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    shift.work(picture(key, "a fox"))
    shift.work(picture(key, "a hen [moderated-output]"))
    assert list(scratch.iterdir()) == list((root.path / "incoming").iterdir()) == []


def test_a_fault_of_ours_before_the_paid_call_fails_the_task_and_releases_it(shift, key, sandbox):
    task_id = picture(key, "a fox")
    task(task_id).payload.delete()
    assert shift.work(task_id) == "TASK_INTERNAL_ERROR"
    assert sandbox.audit()["jobs"] == 0
