"""Unknown outcomes in the admin: the list, its actions, who may take them, and what was paid for nothing."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from adapters.kit.jobs import LONGEST_ID
from catalog import snapshot
from catalog.models import Channel, ChannelModel
from desk.kit.actions import url_of
from tasks import ledger_check, lifecycle
from tasks.failures import Failure
from tasks.models import Call, Task
from tasks.paid_calls import CallEnd
from tests.tasks import steps

pytestmark = pytest.mark.django_db

UNKNOWN = Failure(type="TASK_OUTCOME_UNKNOWN", message="Its answer was lost.", retryable=True)
LIST = "admin:tasks_call_unknown"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def film(key, video_model) -> Call:
    """A call without an outcome; its own cost is known."""
    ChannelModel.objects.update(cost={"720p": "0.07"})
    worker = steps.worker()
    task = steps.start(key, worker, steps.VIDEO)
    route = snapshot.latest().route(task.route_id)
    channel = Channel.objects.get(pk=route.channel.id)
    fields = {"channel_id": channel.pk, "credential_id": channel.credentials.get().pk, "target": route.target}
    (call,) = steps.intend(steps.intent(task, worker, **fields))
    outcome = {"kind": "ambiguous", "message": f"{SCRIPT} api_key=CANARYKEY1234"}
    end = CallEnd(id=call.id, state="unknown", outcome=outcome)
    assert steps.end(task, "failed", failure=UNKNOWN, calls=(end,))
    return Call.objects.get(pk=call.id)


@pytest.fixture
def clerk(db) -> Client:
    """A browser of somebody who may look at calls and nothing more."""
    user = User.objects.create_user("clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(user)
    return client


def address(call: Call, action: str) -> str:
    return url_of(call.task if action == "retry" else call, action)


def retry(client: Client, call: Call, *, done_before: int = 0) -> str:
    """What the page says after a form that was made when the task had so many retries."""
    answer = client.post(address(call, "retry"), {"done_before": done_before, "reason": "No answer."}, follow=True)
    return answer.content.decode()


def write_off(client: Client, call: Call) -> None:
    client.post(address(call, "lost"), {"reason": "Not on the bill."})


def page(client: Client, where: str, *arguments: object, **query: str) -> str:
    answer = client.get(reverse(where, args=arguments), query)
    assert answer.status_code == 200
    return answer.content.decode()


def linked() -> Task:
    return Task.objects.get(retry_of__isnull=False)


def messages() -> list[str]:
    return list(LogEntry.objects.values_list("change_message", flat=True))


def test_the_list_tells_what_is_known_and_what_is_at_stake(operator, film):
    text = page(operator, LIST)
    for part in (film.task_id, "tester / key", "comet-video", "cinema", "…1234", film.request_digest[:16], "$0.35"):
        assert part in text
    assert "ambiguous" in text
    assert "CANARYKEY" not in text
    assert SCRIPT not in text


def test_the_list_of_calls_leads_to_it(operator, film):
    assert reverse(LIST) in page(operator, "admin:tasks_call_changelist")


def test_an_empty_list_says_so(operator):
    assert "Nothing is open." in page(operator, LIST)


def test_a_longer_list_asks_no_more(operator, film, django_assert_max_num_queries):
    for position in range(1, 9):
        Call.objects.create(
            task=film.task,
            attempt=1,
            position=position,
            worker=film.worker,
            channel=film.channel,
            credential=film.credential,
            route_id=film.route_id,
            target=film.target,
            request_digest="d" * 64,
            state="unknown",
        )
    with django_assert_max_num_queries(8):
        assert page(operator, LIST).count("Mark lost") == 9


def test_each_action_asks_first_and_changes_nothing(operator, film):
    for action in ("attach", "retry", "lost"):
        answer = operator.get(address(film, action))
        assert (answer.status_code, b"CANARYKEY" in answer.content) == (200, False), action
    assert Call.objects.get(pk=film.pk).state == "unknown"
    assert Task.objects.count() == 1


def test_attaching_makes_a_linked_task(operator, film):
    answer = operator.post(address(film, "attach"), {"upstream_id": " cgt-1 "}, follow=True)
    assert (linked().status, linked().retry_of_id) == ("running", film.task_id)
    assert Call.objects.get(task=linked()).handle["id"] == "cgt-1"
    assert "Nothing is open." in answer.content.decode()
    assert messages() == [f"Attached the job: {linked().id} follows it."]


def test_a_job_with_a_long_id_is_attached(operator, film):
    job = "j" * LONGEST_ID
    operator.post(address(film, "attach"), {"upstream_id": job})
    assert Call.objects.get(handle__id=job).task_id != film.task_id


def test_an_attachment_that_is_refused_says_why(operator, film):
    for upstream_id, reason in (("", "This field is required"), ("é", "printable ASCII")):
        answer = operator.post(address(film, "attach"), {"upstream_id": upstream_id})
        assert (answer.status_code, reason in answer.content.decode()) == (200, True)
    assert messages() == []
    assert Task.objects.count() == 1


def test_retrying_makes_a_linked_task(operator, film):
    assert "you pay twice" in page(operator, "admin:tasks_task_do", film.task_id, "retry")
    retry(operator, film)
    assert (linked().status, linked().retry_of_id) == ("queued", film.task_id)
    assert messages() == [f"Submitted it again as {linked().id}, at $0.50. No answer."]


def test_a_second_retry_is_warned_of_and_done_once_the_first_has_ended(operator, film):
    retry(operator, film)
    first = linked().id
    assert f"already submitted again as {first}" in page(operator, "admin:tasks_task_do", film.task_id, "retry")
    assert f"A retry of it is queued: {first}" in retry(operator, film, done_before=1)
    lifecycle.end([steps.cancellation_of(first)])
    assert "submitted again in the meantime" in retry(operator, film)  # the first form, once more
    assert Task.objects.filter(retry_of=film.task_id).count() == 1
    retry(operator, film, done_before=1)
    assert Task.objects.filter(retry_of=film.task_id).count() == 2


def test_marking_lost_books_the_own_cost(operator, film):
    write_off(operator, film)
    call = Call.objects.get(pk=film.pk)
    assert (call.state, call.cost_micros, call.outcome["by"]) == ("lost", 350_000, "operator")
    assert messages() == ["Marked the call lost. Not on the bill."]


def test_a_call_that_was_settled_meanwhile_is_refused(operator, film):
    write_off(operator, film)
    answer = operator.post(address(film, "attach"), {"upstream_id": "cgt-1"})
    assert "settled before" in answer.content.decode()
    assert Task.objects.count() == 1


def test_the_books_are_right_after_all_of_it(operator, film):
    retry(operator, film)
    retry(operator, film)
    assert ledger_check.check().breaches == ()


def test_a_task_that_went_on_can_only_be_written_off(operator, film):
    Task.objects.update(status="running", finished_at=None, actual_micros=None)
    text = page(operator, LIST)
    assert address(film, "lost") in text
    assert address(film, "attach") not in text
    assert address(film, "retry") not in text


def test_who_may_not_change_tasks_may_look_and_do_nothing_here(clerk, film):
    assert clerk.get(reverse("admin:tasks_call_changelist")).status_code == 200
    assert "Mark lost" not in page(clerk, LIST)
    for action in ("attach", "retry", "lost"):
        assert clerk.post(address(film, action), {"upstream_id": "cgt-1"}).status_code == 403
    assert Task.objects.count() == 1


def test_strangers_are_sent_to_the_login(client, film):
    assert client.post(address(film, "retry")).status_code == 302
    assert Task.objects.count() == 1


def test_unknown_calls_and_actions_are_404(operator, film):
    for call_id, action in ((film.pk, "burn"), (987_654, "lost"), (film.pk, "retry")):
        assert operator.get(reverse("admin:tasks_call_do", args=[call_id, action])).status_code == 404, action


def test_the_operators_loss_is_filtered_and_summed(operator, film):
    write_off(operator, film)
    fields = {"worker": film.worker, "route_id": 1, "target": film.target, "request_digest": "d", "state": "lost"}
    Call.objects.create(task=film.task, attempt=2, outcome={"kind": "late"}, cost_micros=1_000_000, **fields)
    shown = {query: page(operator, "admin:tasks_call_changelist", loss=query) for query in ("all", "late", "given_up")}
    assert [re.search(r"<strong>(\$\S+)</strong>", text)[1] for text in shown.values()] == [
        "$1.35",
        "$1.00",
        "$0.35",
    ]
    assert "Operator's loss, where" not in page(operator, "admin:tasks_call_changelist")


def test_calls_that_differ_from_their_bill_are_filtered(operator, film):
    words = "resolution: billed 720p, reported 1080p"
    assert words not in page(operator, "admin:tasks_call_changelist", bill="differs")
    Call.objects.filter(pk=film.pk).update(mismatch=words)
    assert words in page(operator, "admin:tasks_call_changelist", bill="differs")
    assert words in page(operator, "admin:tasks_task_change", film.task_id)
