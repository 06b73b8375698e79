"""The test of a channel: one real call over a real socket, and what becomes of each answer."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from billing.models import LedgerEntry
from catalog import credentials
from catalog.models import Channel, ChannelModel, ChannelTest, MediaModel
from desk.channel_page import channel_probe, smallest, verdicts
from desk.channel_page.smallest import Untestable
from tasks.models import Task
from tests.rows import add_credential
from tests.tasks import steps
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def studio(image_model: MediaModel, image_channel: Channel) -> Channel:
    ChannelModel.objects.update(cost={"1K": "0.02", "2K": "0.05"})
    return image_channel


@pytest.fixture
def cinema(video_model: MediaModel, video_channel: Channel) -> Channel:
    return video_channel


def bought(channel: Channel, prompt: str = smallest.PROMPT) -> ChannelTest:
    plan = channel_probe.planned(channel_probe.cheapest(channel).offer, prompt)
    return channel_probe.run(plan, by="olga", number=channel_probe.number_of(channel))


def told(test: ChannelTest) -> str:
    return verdicts.tell(test, timezone.now()).words


def test_the_cheapest_request_is_planned_with_its_cost_before_anything_is_sent(studio, cinema):
    picture, film = channel_probe.cheapest(studio).smallest, channel_probe.cheapest(cinema).smallest
    assert (picture.words, picture.cost_micros) == ("1 picture of 1K", 20_000)
    assert (film.words, film.cost_micros) == ("a film of 5 s of 720p", None)
    narrow = {"durations": {"min": 4, "max": 12}, "resolutions": ["1080p", "480p"]}
    cost = {"480p": "0.01", "1080p": "0.05", "*": "1"}
    ChannelModel.objects.filter(channel=cinema).update(capabilities=narrow, cost=cost)
    film = channel_probe.cheapest(cinema).smallest
    assert (film.words, film.cost_micros) == ("a film of 4 s of 480p", 40_000)
    assert not ChannelTest.objects.exists()


def test_what_no_request_of_a_prompt_alone_can_buy_says_why(studio):
    ChannelModel.objects.update(capabilities={"prompt_max": 1})
    with pytest.raises(Untestable, match=r"aurora-image: .*params\.prompt"):
        channel_probe.cheapest(studio)


def test_a_model_of_an_unknown_pricing_mode_cannot_be_tested(studio):
    MediaModel.objects.update(pricing_mode="audio_seconds")
    with pytest.raises(Untestable, match="audio_seconds"):
        channel_probe.cheapest(studio)


def test_a_picture_is_bought_fetched_and_told_without_task_ledger_or_secret(studio, sandbox):
    before = LedgerEntry.objects.count()
    test = bought(studio)
    assert (test.state, test.number, test.cost_micros) == ("answered", 1, 20_000)
    assert test.answer["files"] == [{"type": "image/png", "source": "in the answer"}]
    assert told(test).startswith("It works: 1 file (image/png) after ")
    stored = ChannelTest.objects.get()
    assert stored.request["url"] == f"{sandbox.url}/openai/v1/images/generations"
    assert stored.request["body"]["prompt"] == smallest.PROMPT
    secret = credentials.readable(studio.credentials.get().ciphertext)["api_key"]
    assert secret not in json.dumps([stored.request, stored.answer, stored.target])
    assert (Task.objects.count(), LedgerEntry.objects.count()) == (0, before)


def test_a_job_is_shown_by_its_handle_and_looked_for_until_it_ends(cinema):
    test = bought(cinema, "[queued=600] a fox")
    assert (test.state, sorted(test.answer)) == ("accepted", ["handle"])
    assert told(channel_probe.poll(cinema, number=1)).startswith("It works so far")
    test = bought(cinema)
    assert test.number == 2
    test = channel_probe.poll(cinema, number=2)
    assert (test.state, test.answer["files"][0]["type"]) == ("answered", "video/mp4")
    with pytest.raises(channel_probe.NotTested):
        channel_probe.poll(cinema, number=2)


@pytest.mark.parametrize(
    ("prompt", "state", "words"),
    [
        ("[moderated]", "refused", "safety check"),
        ("[rate-limited]", "refused", "limiting the rate"),
        ("[status=401]", "refused", "refuses the credential"),
        ("[fail]", "refused", "check the upstream model"),
        ("[garbage]", "unknown", "The answer was lost"),
        ("[reset]", "unknown", "The answer was lost"),
    ],
)
def test_each_refusal_is_told_in_words_and_changes_nothing_of_the_channel(studio, prompt, state, words):
    test = bought(studio, prompt)
    assert test.state == state
    assert words in told(test)
    assert test.answer["kind"]
    row = studio.credentials.get()
    assert (row.disabled_at, row.suspected_at) == (None, None)


def test_a_channel_that_cannot_be_reached_or_has_no_credential_says_so(studio):
    studio.credentials.all().delete()
    assert "refuses the credential" in told(bought(studio))
    Channel.objects.update(base_url="http://127.0.0.1:1/v1")
    add_credential(Channel.objects.get(), "a-credential-for-nobody")
    assert "could not be reached" in told(bought(Channel.objects.get()))


def test_a_form_that_is_sent_twice_buys_once(studio, sandbox):
    plan = channel_probe.cheapest(studio)
    channel_probe.run(plan, by="olga", number=0)
    with pytest.raises(channel_probe.NotTested):
        channel_probe.run(plan, by="olga", number=0)
    assert ChannelTest.objects.get().number == 1


def test_while_one_is_under_way_no_other_begins_and_a_lost_one_is_unknown(studio):
    plan = channel_probe.cheapest(studio)
    row = ChannelTest.objects.create(channel=studio, number=7, state="sent", started_at=timezone.now())
    with pytest.raises(channel_probe.NotTested):
        channel_probe.run(plan, by="olga", number=7)
    assert "in progress" in told(row)
    ChannelTest.objects.update(started_at="2026-01-01T00:00:00Z")
    assert "The answer was lost" in told(ChannelTest.objects.get())
    assert channel_probe.run(plan, by="olga", number=7).number == 8


def test_an_answer_that_comes_after_the_next_test_has_begun_is_not_taken_for_that_ones(studio, sandbox):
    with ThreadPoolExecutor(1) as threads:
        late = threads.submit(steps.at_once, [partial(bought, studio, "[held]")])
        wait_until(lambda: sandbox.busy)
        assert ChannelTest.objects.filter(number=1, state="sent").update(number=2)
        sandbox.release()
        (first,) = late.result(PATIENCE)
    assert first.state == "answered"
    assert (ChannelTest.objects.get().number, ChannelTest.objects.get().state) == (2, "sent")


def test_the_button_says_what_it_costs_before_and_writes_the_history_after(desk, studio):
    page = reverse("admin:catalog_channel_do", args=[studio.pk, "test"])
    shown = desk.get(page).content.decode()
    assert "aurora-image as gpt-image-2: 1 picture of 1K, own cost $0.02" in shown
    assert not ChannelTest.objects.exists()
    form = {"offer": ChannelModel.objects.get().pk, "prompt": "a fox", "number": 0}
    answer = desk.post(page, form)
    assert answer.status_code == 302
    assert LogEntry.objects.get().change_message.startswith(
        "Tested aurora-image, 1 picture of 1K, own cost $0.02. It works"
    )
    assert "was already sent" in desk.post(page, form).content.decode()
    assert ChannelTest.objects.get().number == 1
    shown = desk.get(answer["Location"]).content.decode()
    assert "It works: 1 file (image/png)" in shown
    assert "images/generations" in shown


def test_who_may_only_look_gets_no_button_and_cannot_test(client, studio, django_user_model):
    viewer = django_user_model.objects.create_user("vera", is_staff=True)
    viewer.groups.add(django_user_model.groups.rel.model.objects.get(name="viewer"))
    client.force_login(viewer)
    page = reverse("admin:catalog_channel_do", args=[studio.pk, "test"])
    assert page not in client.get(reverse("admin:catalog_channel_change", args=[studio.pk])).content.decode()
    assert client.post(page, {"offer": "1", "prompt": "x", "number": "0"}).status_code == 403
    assert not ChannelTest.objects.exists()
