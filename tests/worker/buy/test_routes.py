"""From route to route: where a refused task goes, and where one that may have been bought never goes."""

import socketserver
import threading
from datetime import timedelta

import pytest

from adapters.base import ErrorKind
from catalog import credentials
from catalog.models import Channel, ChannelModel, Credential, Rest, Route
from tasks.models import Call
from tests.adapters.raw_server import answer, raw_server
from tests.refusing import rest, succeed
from tests.rows import make_channel, make_model, make_route, make_task
from tests.tasks import steps
from tests.worker.driving import call, channels_of, film, hurry, outage, picture, task
from tools.children import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]


@pytest.fixture
def spare(plan, image_model, sandbox):
    """A second route, tried after the first."""
    channel = make_channel("spare", "openai_images", f"{sandbox.url}/openai/v1")
    return make_route(plan, image_model, channel, upstream_model="gpt-image-2", priority=200)


@pytest.fixture
def hanging_up():
    """The port of a server that closes every connection at once."""
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def point_elsewhere(name, base_url):
    channel = Channel.objects.get(name=name)
    channel.base_url = base_url
    channel.save()
    credentials.store(channel, {"api_key": f"{name}-credential-1234"})


def states_of(task_id):
    return list(Call.objects.filter(task_id=task_id).order_by("id").values_list("state", flat=True))


@pytest.mark.parametrize(
    "refusal", [{"status": status} for status in (401, 404, 429)] + [{"status": 503, "retry_after": 1}], ids=str
)
def test_what_was_surely_not_bought_goes_to_the_next_route(shift, key, spare, sandbox, refusal):
    outage(sandbox, path="/openai/", times=1, **refusal)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "spare"]
    assert states_of(task_id) == ["refused", "done"]
    assert task(task_id).requeues == 0


def test_a_channel_that_is_full_is_not_failed_over_to(shift, key, other_key, spare, sandbox):
    spare.channel.max_running = 1
    spare.channel.save()
    other = make_task(other_key, "running", channel=spare.channel)
    outage(sandbox, path="/openai/", status=404, times=1)
    task_id = picture(key, "a fox")
    assert (shift.execute(), shift.execute()) == (1, 0)
    assert task(task_id).status == "queued"
    other.delete()
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "spare"]


def test_what_was_not_sent_for_want_of_a_connection_a_name_or_tls_goes_to_the_next_route(shift, key, spare, hanging_up):
    for origin in (f"http://127.0.0.1:{free_port()}", "http://no-such-host.invalid", f"https://127.0.0.1:{hanging_up}"):
        hurry()
        point_elsewhere("studio", f"{origin}/v1")
        task_id = picture(key, f"a fox instead of {origin}")
        assert shift.work(task_id) == "succeeded", origin
        assert channels_of(task_id) == ["studio", "spare"], origin


def test_a_channel_whose_credential_nobody_can_open_is_left(shift, key, spare):
    Credential.objects.filter(channel__name="studio").update(ciphertext="unreadable")
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "spare"]


def test_what_may_have_been_bought_never_goes_to_another_route(shift, key, spare):
    for word in ("[reset]", "[garbage]", "[status=500]", "[status=502]", "[status=504]"):
        task_id = picture(key, f"a fox {word}")
        assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN", word
        assert channels_of(task_id) == ["studio"], word


def test_what_a_proxy_may_have_passed_on_is_bought_nowhere_else(shift, key, spare):
    for status in (408, 409, 425, 500, 502, 503, 504, 529):
        with raw_server(answer(b"upstream connect error", status=f"{status} Lost")) as proxy:
            point_elsewhere("studio", proxy.url)
            task_id = picture(key, f"a fox behind a {status}")
            assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN", status
        assert (len(proxy.requests), channels_of(task_id)) == (1, ["studio"]), status
        assert task(task_id).actual_micros == 0


def test_a_request_that_is_bad_everywhere_is_not_taken_elsewhere(shift, key, spare):
    for word in ("[fail]", "[moderated]"):
        task_id = picture(key, f"a fox {word}")
        shift.work(task_id)
        assert channels_of(task_id) == ["studio"], word


def test_an_opted_in_route_buys_again_after_an_ambiguous_answer(shift, key, image_model, sandbox, bought_again):
    Route.objects.update(resubmit_ambiguous=True)
    image_model.save()
    bought_again.add("a fox [reset=1]")
    task_id = picture(key, "a fox [reset=1]")
    assert shift.work(task_id) == "succeeded"
    assert states_of(task_id) == ["unknown", "done"]
    assert sandbox.audit()["by_prompt"] == {"a fox [reset=1]": 2}
    assert task(task_id).actual_micros == 40_000


def test_an_opted_in_route_stops_buying_after_three_lost_answers(shift, key, image_model, bought_again):
    Route.objects.update(resubmit_ambiguous=True)
    image_model.save()
    bought_again.add("a fox [reset]")
    task_id = picture(key, "a fox [reset]")
    assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN"
    assert states_of(task_id) == ["unknown"] * 3


def test_an_unreachable_provider_is_given_up_after_five_tries(shift, key):
    point_elsewhere("studio", f"http://127.0.0.1:{free_port()}/v1")
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "TASK_UPSTREAM_ERROR"
    assert states_of(task_id) == ["refused"] * 5
    assert call(task_id).outcome["kind"] == ErrorKind.TRANSIENT


def test_when_all_routes_are_busy_both_are_tried_again(shift, key, spare, sandbox):
    outage(sandbox, path="/openai/", status=429, times=3, retry_after=1)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "spare", "studio", "spare"]
    assert task(task_id).requeues == 1


def test_only_the_busy_route_is_tried_again(shift, key, spare, sandbox):
    outage(sandbox, path="/openai/", status=429, times=1)
    outage(sandbox, path="/openai/", status=401, times=1)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "spare", "studio"]


@pytest.fixture
def spare_is_full(shift, key, spare, sandbox):
    """A task has taken the only seat of the second route, since the first was busy for a moment."""
    Channel.objects.filter(name="spare").update(max_running=1)
    spare.channel.refresh_from_db()
    spare.channel.save()
    outage(sandbox, path="/openai/", status=429, times=1)
    picture(key, "first")
    shift.execute()
    (held,) = steps.claimed(shift.id)
    assert held.route_id == spare.id
    hurry()


@pytest.mark.usefixtures("spare_is_full")
def test_a_task_whose_other_route_is_full_takes_the_busy_one_again(shift, key, sandbox):
    outage(sandbox, path="/openai/", status=429, times=1)
    task_id = picture(key, "a fox")
    shift.execute()
    assert shift.execute() == 0
    assert (task(task_id).status, task(task_id).requeues) == ("queued", 0)
    hurry()
    assert shift.execute() == 1
    assert (task(task_id).status, channels_of(task_id)) == ("succeeded", ["studio", "studio"])


@pytest.mark.usefixtures("spare_is_full")
def test_a_full_route_is_waited_for_where_the_other_refused_for_good(shift, key, sandbox):
    outage(sandbox, path="/openai/", status=404, times=1)
    task_id = picture(key, "a fox")
    shift.execute()
    shift.sweep()
    hurry()
    assert shift.execute() == 0
    assert (task(task_id).status, task(task_id).requeues) == ("queued", 0)


def test_a_long_retry_after_holds_back_its_channel_and_not_the_task(shift, key, spare, sandbox):
    outage(sandbox, path="/openai/", status=429, times=1, retry_after=200)
    outage(sandbox, path="/openai/", status=429, times=1)
    task_id, lower = picture(key, "a fox"), steps.clock()
    assert (shift.execute(), shift.execute()) == (1, 1)
    assert task(task_id).not_before <= steps.clock() + timedelta(seconds=1.2)
    studio = Rest.objects.get(channel__name="studio", until__isnull=False)
    assert lower + timedelta(seconds=200) <= studio.until <= steps.clock() + timedelta(seconds=200)
    Rest.objects.exclude(pk=studio.pk).delete()
    steps.age(task_id, "not_before", -1)
    assert shift.execute() == 1
    assert channels_of(task_id) == ["studio", "spare", "spare"]


def test_a_channel_that_another_task_woke_does_not_make_the_refused_one_hot(shift, key, image_channel):
    point_elsewhere("studio", f"http://127.0.0.1:{free_port()}/v1")
    task_id, waits = picture(key, "a fox"), []
    for _ in range(4):
        shift.execute()
        waits.append((task(task_id).not_before - steps.clock()).total_seconds())
        succeed(image_channel.credentials.get(retired_at=None))
        assert shift.execute() == 0
        steps.age(task_id, "not_before", -1)
    assert [wait > least for wait, least in zip(waits, (0, 1, 2, 4), strict=True)] == [True] * 4


def test_a_busy_task_times_out_at_its_queue_deadline(shift, key, sandbox):
    outage(sandbox, path="/openai/", status=429, times=1000)
    task_id = picture(key, "a fox")
    shift.execute()
    assert task(task_id).status == "queued"
    steps.age(task_id, "deadline_at", -1)
    shift.sweep()
    assert (task(task_id).status, task(task_id).error["type"]) == ("timeout", "TASK_TIMEOUT")


def test_a_route_that_was_switched_off_while_the_task_waited_is_passed_over(shift, key, spare, image_model):
    task_id = picture(key, "a fox")
    channel = Channel.objects.get(name="studio")
    channel.enabled = False
    channel.save()
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["spare"]


def test_without_any_route_left_the_task_fails_before_it_runs(shift, key):
    task_id = picture(key, "a fox")
    channel = Channel.objects.get(name="studio")
    channel.enabled = False
    channel.save()
    shift.execute()
    assert (task(task_id).status, task(task_id).error["type"]) == ("failed", "TASK_NO_CAPABLE_ROUTE")
    assert task(task_id).attempt == 0


def test_a_route_that_would_now_buy_something_else_is_passed_over(shift, key, spare):
    task_id = picture(key, "a fox")
    offer = ChannelModel.objects.get(channel__name="studio")
    offer.capabilities = {"tiers": ["2K"]}
    offer.save()
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["spare"]


def test_a_route_that_now_serves_another_model_is_passed_over(shift, key, plan, image_model, spare):
    task_id = picture(key, "a fox")
    luxury = make_model("luxury", "image", plan=plan, prices={"1K": "4"}, params=image_model.params)
    route = Route.objects.get(channel__name="studio")
    ChannelModel.objects.create(channel=route.channel, model=luxury, upstream_model="gpt-image-2-luxury")
    route.model = luxury
    route.save()
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["spare"]


def test_a_busy_route_that_cannot_run_the_task_any_more_is_not_waited_for(shift, key, image_model, sandbox):
    outage(sandbox, path="/openai/", status=429, times=1)
    task_id = picture(key, "a fox")
    assert shift.execute() == 1
    offer = ChannelModel.objects.get(channel__name="studio")
    offer.capabilities = {"tiers": ["2K"]}
    offer.save()
    assert shift.work(task_id) == "TASK_NO_CAPABLE_ROUTE"


def test_videos_change_routes_like_images(shift, key, plan, video_model, sandbox):
    channel = make_channel("spare", "ark_content_tasks", f"{sandbox.url}/ark/api/v3", options={"poll_seconds": 0.2})
    make_route(plan, video_model, channel, upstream_model="seedance-1", priority=200)
    outage(sandbox, path="/ark/", method="POST", status=503, times=1, retry_after=1)
    task_id = film(key, "a fox runs")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["cinema", "spare"]


def test_a_route_that_vanished_is_not_a_way_out(shift, key, spare, sandbox):
    task_id = picture(key, "[rate-limited=1] a fox")
    spare.enabled = False
    spare.save()
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "studio"]
    assert task(task_id).requeues == 1


def test_a_route_that_rests_for_long_is_not_waited_for_while_the_refused_one_is_ready_sooner(
    shift, key, spare, sandbox
):
    credential = spare.channel.credentials.get()
    rest(credential)
    outage(sandbox, path="/openai/", status=429, times=1)
    task_id = picture(key, "a fox")
    assert shift.execute() == 1
    steps.age(task_id, "not_before", -1)
    Rest.objects.exclude(credential_id=credential.pk).delete()
    assert shift.execute() == 1
    assert channels_of(task_id) == ["studio", "studio"]


def test_a_route_that_rests_is_waited_for_when_the_others_refused_for_good(shift, key, spare, sandbox):
    credential = spare.channel.credentials.get()
    rest(credential)
    outage(sandbox, path="/openai/", status=404, times=1)
    task_id = picture(key, "a fox")
    assert (shift.execute(), shift.execute()) == (1, 0)
    assert (task(task_id).status, task(task_id).requeues) == ("queued", 0)
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "spare"]
