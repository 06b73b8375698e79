"""The pages of a channel and of its models: what they answer, keep and refuse."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group as UserGroup
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from adapters.base import ErrorKind
from catalog.models import Channel, ChannelModel
from common import ids
from desk.channel_page import channel_facts
from tasks.models import Call
from tests.refusing import refuse
from tests.rows import make_channel, make_task, opened
from tests.tasks import steps

pytestmark = pytest.mark.django_db
CAPABILITIES = {
    "durations": {"min": 4, "max": 12},
    "resolutions": ["480p", "720p"],
    "ratios": ["16:9", "a, b"],
    "roles": {"first_frame": 1, "reference_image": 9},
    "frames_exclusive_refs": False,
    "audio": "switch",
    "size_table": {"720p": {"16:9": "1280x720"}},
    "unheard_of": {"by": "this version"},
}
FIXED = {"watermark": False, "camera_fixed": "true", "seed": 7}


def page(row: Channel | ChannelModel) -> str:
    return reverse(f"admin:catalog_{row._meta.model_name}_change", args=[row.pk])


@pytest.fixture
def offer(video_model: Any, video_channel: Channel) -> ChannelModel:
    ChannelModel.objects.update(
        capabilities=CAPABILITIES, extra_fields=["tools", "odd.field", "draft"], fixed=FIXED, cost={"720p": "0.05"}
    )
    return ChannelModel.objects.get()


def sent_back(response: Any, prefix: str = "") -> dict[str, Any]:
    """What a browser sends where nobody has touched the page."""
    return dict(fields_of(response.context["adminform"].form))


def fields_of(form: Any) -> Iterator[tuple[str, Any]]:
    for bound in form:
        value = bound.value()
        columns = getattr(bound.field.widget, "columns", None)
        if columns:
            for number, row in enumerate(value or []):
                for column, cell in zip(columns, row, strict=True):
                    yield f"{bound.html_name}-{number}-{column.name}", cell
        elif value is True:
            yield bound.html_name, "on"
        elif value not in (None, False, ""):
            yield bound.html_name, value


def test_a_models_page_that_is_sent_back_as_it_came_changes_nothing(desk, offer):
    before = ChannelModel.objects.values().get()
    shown = desk.get(page(offer))
    assert "ratios = [&quot;16:9&quot;, &quot;a, b&quot;]" in shown.content.decode()
    answer = desk.post(page(offer), sent_back(shown))
    # What this version does not know is refused as the catalog file refuses it, and says where it is dropped.
    assert answer.context["adminform"].form.errors == {
        "capabilities-drop": ["capabilities.unheard_of: unknown; known are audio, durations, frames_exclusive_refs, "
                              "max_inputs, prompt_max, ratios, resolutions, roles, size_table"]
    }  # fmt: skip
    assert desk.post(page(offer), sent_back(shown) | {"capabilities-drop": "unheard_of"}).status_code == 302
    known = {name: value for name, value in CAPABILITIES.items() if name != "unheard_of"}
    assert ChannelModel.objects.values().get() == before | {"capabilities": known}
    assert LogEntry.objects.get(content_type__model="channel").change_message.startswith("Changed how")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("capabilities-durations", "five", "Enter whole seconds"),
        ("capabilities-max_inputs", "-1", "must be a whole number, 0 or more"),
        ("capabilities-roles-first_frame", "-1", "must be an object of counts"),
        ("capabilities-size_table-0-size", "wide", "enter tier, ratio and pixels"),
        ("capabilities-audio", "loud", "not one of the available choices"),
        ("allow", "seed", "not one of the available choices"),
        ("allow-more-0-text", "seed", "passes without being named here"),
        ("allow-more-0-text", "model", "is forbidden"),
        ("fixed:seed", "[1", "begins like JSON"),
        ("fixed-more-0-path", "duration", "enter its value"),
        ("cost-0-usd", "much", "must be a number"),
        ("upstream_model", " ", "required"),
    ],
)
def test_what_breaks_a_rule_is_told_at_its_field(desk, offer, field, value, told):
    ChannelModel.objects.update(capabilities={}, extra_fields=[], fixed={})
    before = ChannelModel.objects.values().get()
    answer = desk.post(page(offer), sent_back(desk.get(page(offer))) | {field: value})
    (name, (reason,)), *others = answer.context["adminform"].form.errors.items()
    assert (field.startswith(name), others) == (True, [])
    assert told in reason
    assert ChannelModel.objects.values().get() == before


def test_a_fixed_field_that_is_priced_is_refused_where_it_stands(desk, offer):
    more = {"fixed-more-0-path": "duration", "fixed-more-0-value": "9", "capabilities-drop": "unheard_of"}
    answer = desk.post(page(offer), sent_back(desk.get(page(offer))) | more)
    assert answer.context["adminform"].form.errors == {"fixed-more": ["fixed.duration: is set by the adapter"]}


def test_the_page_of_a_channel_answers_how_it_stands_and_what_became_of_its_calls(
    desk, key, video_model, video_channel
):
    worker, other = steps.worker(), make_channel("other", "openai_images", "https://x.example/v1")
    told = [("done", "succeeded"), ("done", "succeeded"), ("refused", "rate_limited"), ("accepted", None)]
    for state, kind in told:
        bought(make_task(key), worker, video_channel, state, kind)
    bought(make_task(key), worker, other, "done", "succeeded")
    bought(
        make_task(key, id=ids.task_id_floor(timezone.now().timestamp() - 7_200)), worker, video_channel, "lost", "lost"
    )
    refuse(video_channel, ErrorKind.OVERLOADED, retry_after=600)
    assert dict(channel_facts.calls(video_channel)) == {"succeeded": 2, "rate limited": 1, "running": 1}
    shown = desk.get(page(video_channel)).content.decode()
    assert "is not in use: cooling down until 20" in shown
    assert "<dt>succeeded</dt><dd>2</dd>" in shown
    assert "the channel rests: the provider was too busy; 1 time in a row" in shown


def bought(task: Any, worker: str, channel: Channel, state: str, kind: str | None) -> None:
    Call.objects.create(
        task=task,
        worker_id=worker,
        attempt=1,
        route_id=1,
        channel=channel,
        target={},
        request_digest="",
        state=state,
        outcome={"kind": kind} if kind else None,
    )


def test_the_page_needs_as_many_statements_for_many_models_and_calls_as_for_one(
    desk, key, video_model, video_channel, plan
):
    def statements() -> int:
        with steps.captured() as found:
            desk.get(page(video_channel))
        return len(found)

    worker, few = steps.worker(), statements()
    for number in range(20):
        bought(make_task(key), worker, video_channel, "done", f"kind {number}")
    assert statements() <= few


def test_the_adapter_is_asked_for_first_and_then_its_options_are_fields(desk):
    add = reverse("admin:catalog_channel_add")
    assert "?adapter=kling_tasks" in desk.get(add).content.decode()
    form = desk.get(add, {"adapter": "kling_tasks"}).context["adminform"].form
    assert {"options-api", "options-poll_seconds"} <= set(form.fields)
    given = {"name": "kling", "adapter": "kling_tasks", "base_url": "https://api.example", "enabled": "on"}
    given |= {"options-api": "v1", "options-poll_seconds": "2.5"}
    counts = {"credentials-TOTAL_FORMS": "0", "credentials-INITIAL_FORMS": "0"}
    assert desk.post(add, given | counts).status_code == 302
    assert Channel.objects.get().options == {"api": "v1", "poll_seconds": 2.5}
    other = given | counts | {"name": "other", "adapter": "openai_images"}
    errors = desk.post(add, other).context["adminform"].form.errors
    assert errors == {"adapter": ["api is not an option of openai_images: clear it first.",
                                  "poll_seconds is not an option of openai_images: clear it first."]}  # fmt: skip


def test_no_page_of_a_channel_asks_for_jquery_or_json(desk, offer):
    for path in (page(offer), page(offer.channel), f"{reverse('admin:catalog_channel_add')}?adapter=http_template"):
        shown = desk.get(path).content.decode()
        assert "jquery" not in shown
        assert "<textarea" not in shown
        assert json.dumps(FIXED) not in shown


@pytest.mark.parametrize("rights", [None, ("view_channel", "view_channelmodel"), ("change_channel", "view_channel")])
def test_who_may_see_less_sees_the_page_without_it(client, offer, django_user_model, rights):
    """A viewer, and people whose rights somebody has put together."""
    user = django_user_model.objects.create_user("vera", is_staff=True)
    if rights is None:
        user.groups.add(UserGroup.objects.get(name="viewer"))
    else:
        user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(user)
    shown = client.get(page(offer.channel)).content.decode()
    assert "No task runs there" in shown
    assert ("Credentials, used in turn" in shown) == (rights is None)
    assert "Add a credential" not in shown
    if rights and "change_channel" in rights:
        fields = {"name": "renamed", "adapter": offer.channel.adapter, "base_url": offer.channel.base_url}
        ChannelModel.objects.update(capabilities={}, fixed={}, extra_fields=[])
        assert client.post(page(offer.channel), fields | {"enabled": "on"}).status_code == 302
        assert Channel.objects.get().credentials.count() == 1
    else:
        assert 'fieldset class="plain" disabled' in client.get(page(offer)).content.decode()
        assert client.post(page(offer), {}).status_code == 403


def test_a_credential_of_several_parts_has_a_field_for_each(desk, db):
    add = reverse("admin:catalog_channel_add")
    shown = desk.get(add, {"adapter": "kling_tasks"}).content.decode()
    assert all(f'name="credentials-0-secret-{name}"' in shown for name in ("access_key", "secret_key"))
    given = {"name": "kling", "adapter": "kling_tasks", "base_url": "https://api.example", "enabled": "on"}
    parts = {"secret-access_key": "the-access-key-1234", "secret-secret_key": "the-secret", "change_reason": "new"}
    row = {f"credentials-0-{name}": value for name, value in parts.items()}
    counts = {"credentials-TOTAL_FORMS": "1", "credentials-INITIAL_FORMS": "0"}
    assert desk.post(add, given | counts | row).status_code == 302
    channel = Channel.objects.get()
    assert opened(channel) == {"access_key": "the-access-key-1234", "secret_key": "the-secret"}
    stored = channel.credentials.get()
    counts["credentials-INITIAL_FORMS"] = "1"
    row = {"credentials-0-id": stored.pk, "credentials-0-channel": channel.pk, "credentials-0-change_reason": "rotated"}
    row |= {"credentials-0-secret-secret_key": "another"}
    assert desk.post(page(channel), given | counts | row).status_code == 302
    assert opened(channel) == {"access_key": "the-access-key-1234", "secret_key": "another"}
    assert "the-access-key" not in desk.get(page(channel)).content.decode()
