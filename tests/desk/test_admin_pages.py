"""Every page of the admin opens for an operator, repeats no secret, escapes what users wrote and asks little."""

from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from accounts.models import Group, KeySecret
from billing.models import Hold
from callbacks.models import Delivery
from catalog.models import Channel, Credential
from common.encryption import encrypt
from common.ids import new_task_id
from tasks.models import Asset, Call, RouteSet, ServiceState, Task, TaskEvent, TaskPayload, Worker
from tests.billing import relayed_steps
from tests.rows import make_key

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 11, 21, 9, 30, 15, tzinfo=UTC)
SCRIPT = "<script>alert('prompt')</script>"
DATA_URL = "data:image/png;base64,CANARYDATAURL"
SIGNED_URL = "https://files.example/in.png?signature=CANARYQUERY"
CANARIES = ("CANARYDATAURL", "CANARYQUERY", "CANARYUSER")
OURS = ("accounts", "billing", "callbacks", "tasks")


@pytest.fixture
def make_task(acme_key):
    """Make a failed task with everything that can hang on one."""
    routes = RouteSet.objects.create(digest="d", routes=[])
    worker = Worker.objects.create(id="w1", host="host-1", pid=7, lanes="tasks")
    channel = Channel.objects.create(name="studio", adapter="openai_images", base_url="http://127.0.0.1:9")
    credential = Credential.objects.create(channel=channel, ciphertext=encrypt("CANARYUSER"), last4="USER")

    def make() -> Task:
        task = Task.objects.create(
            id=new_task_id(),
            key=acme_key.record,
            secret=KeySecret.objects.get(),
            account=acme_key.account,
            model_name="aurora",
            modality="image",
            status="failed",
            route_set=routes,
            open_routes=routes,
            channel=channel,
            worker=worker,
            body_digest="b",
            estimated_micros=1_234_567,
            actual_micros=0,
            price={},
            deadline_at=MOMENT,
            created_at=MOMENT,
            finished_at=MOMENT,
            error={"type": "TASK_UPSTREAM_ERROR", "message": SCRIPT},
            callback_url="https://CANARYUSER:pw@receiver.example/hook?token=CANARYQUERY",
            metadata={SCRIPT: SCRIPT},
        )
        params = {"prompt": SCRIPT, "images": [{"image_url": DATA_URL}, {"image_url": SIGNED_URL}]}
        TaskPayload.objects.create(task=task, params=params, trace=[{"kept": True}], result={})
        Call.objects.create(
            task=task,
            attempt=1,
            worker=worker,
            channel=channel,
            credential=credential,
            route_id=1,
            target={"base_url": SIGNED_URL},
            request_digest="r",
            state="unknown",
            outcome={"message": f"{SCRIPT} {SIGNED_URL}"},
        )
        for status in ("queued", "running", "failed"):
            TaskEvent.objects.create(task=task, key=acme_key.record, status=status, attempt=1)
        Asset.objects.create(
            task=task, position=0, kind="image", storage_key="k", content_type="image/x-a", size_bytes=1, sha256="s"
        )
        Delivery.objects.create(
            id=f"{task.id}.1", task=task, account=task.account, url=task.callback_url, host="receiver.example"
        )
        Hold.objects.create(
            reference=task.id, account=acme_key.account, amount_micros=1_234_567, state="released", closed_at=MOMENT
        )
        relayed_steps.ended(acme_key, 40_000, attempts=[{"channel": "studio", "message": f"{SCRIPT} {SIGNED_URL}"}])
        return task

    return make


@pytest.fixture
def task(make_task) -> Task:
    return make_task()


def pages():
    models = (model for model in admin.site._registry if model._meta.app_label in OURS)
    return sorted(model._meta.label for model in models)


def html(operator, name, *arguments):
    answer = operator.get(reverse(f"admin:{name}", args=arguments))
    assert answer.status_code == 200
    return answer.content.decode()


def name_of(label, page):
    return f"{label.lower().replace('.', '_')}_{page}"


def model_of(label):
    return next(model for model in admin.site._registry if model._meta.label == label)


def secrets_of(key):
    row = KeySecret.objects.get()
    return (key.secret, row.ciphertext, row.digest)


def test_route_sets_turns_and_secrets_have_no_pages():
    assert {"tasks.RouteSet", "tasks.ClaimTurn", "accounts.KeySecret"}.isdisjoint(pages())


def leaked(page, key):
    return [secret for secret in (*CANARIES, *secrets_of(key), SCRIPT) if secret in page]


def test_lists_open_and_repeat_no_secret(operator, task, acme_key):
    Group.objects.create(name="text", platform="openai")
    for label in pages():
        assert leaked(html(operator, name_of(label, "changelist")), acme_key) == [], label


def test_details_open_and_repeat_no_secret(operator, task, acme_key):
    Group.objects.create(name="text", platform="openai")
    for label in pages():
        row = model_of(label).objects.first()
        assert leaked(html(operator, name_of(label, "change"), row.pk), acme_key) == [], label


def test_lists_search_and_find_nothing_without_fault(operator, task):
    for label in pages():
        for words in ("task_0", "1", "'; --", "a b"):
            answer = operator.get(reverse(f"admin:{name_of(label, 'changelist')}"), {"q": words})
            assert answer.status_code in (200, 302), (label, words)


def test_no_row_can_be_deleted(operator, task):
    for label in (label for label in pages() if label not in ("accounts.Group", "tasks.ServiceState")):
        row = model_of(label).objects.first()
        answer = operator.post(reverse(f"admin:{name_of(label, 'delete')}", args=[row.pk]), {"post": "yes"})
        assert answer.status_code == 403, label
        assert model_of(label).objects.filter(pk=row.pk).exists(), label


def test_records_can_be_neither_added_nor_changed(operator, task):
    for label in pages():
        if not label.startswith("accounts.") and label != "tasks.ServiceState":
            row = model_of(label).objects.first()
            change = reverse(f"admin:{name_of(label, 'change')}", args=[row.pk])
            assert operator.get(reverse(f"admin:{name_of(label, 'add')}")).status_code == 403, label
            assert operator.post(change, {}).status_code == 403, label


def test_a_longer_list_asks_no_more(operator, make_task, django_assert_max_num_queries):
    for _ in range(8):
        make_task()
    ours = ("tasks.Task", "tasks.Call", "tasks.TaskEvent", "tasks.Asset", "billing.Hold", "billing.RelayedCall")
    for label in ours:
        with django_assert_max_num_queries(5, info=label):
            html(operator, name_of(label, "changelist"))


def test_the_key_list_asks_no_more_for_more_keys(operator, acme_key, django_assert_max_num_queries):
    for number in range(8):
        make_key(acme_key.account, f"more-{number}")
    with django_assert_max_num_queries(6):
        page = html(operator, "accounts_apikey_changelist")
    assert f"…{acme_key.secret[-4:]}" in page


def test_a_task_page_asks_little(operator, task, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        html(operator, "tasks_task_change", task.id)


def test_a_list_never_counts_beyond_its_cap(operator, make_task, monkeypatch):
    for _ in range(3):
        make_task()
    monkeypatch.setattr("pages.admin_pages.CappedPaginator.CAP", 2)
    answer = operator.get(reverse("admin:tasks_taskevent_changelist"))
    assert answer.context["cl"].result_count == 2


def test_the_switches_are_edited_within_their_bounds(operator):
    address = reverse("admin:tasks_servicestate_change", args=[1])
    fields = {"paused": "on", "message": "Back soon.", "retry_after_seconds": "0", "max_running": "7"}
    assert operator.post(address, fields).status_code == 200
    assert not ServiceState.objects.get().paused
    assert operator.post(address, {**fields, "retry_after_seconds": "90"}).status_code == 302
    state = ServiceState.objects.get()
    assert (state.paused, state.message, state.retry_after_seconds, state.max_running) == (True, "Back soon.", 90, 7)


def test_there_is_one_row_of_switches_for_ever(operator):
    assert operator.get(reverse("admin:tasks_servicestate_add")).status_code == 403
    assert operator.post(reverse("admin:tasks_servicestate_delete", args=[1]), {"post": "yes"}).status_code == 403


def test_the_desk_has_its_own_title(operator):
    page = html(operator, "index")
    assert "Darkroom desk" in page
    assert "Django administration" not in page


class InlineFinder(HTMLParser):
    """Collects what the content security policy forbids in a page: inline scripts, styles and handlers."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        is_code = tag == "script" and "src" not in given and given.get("type") != "application/json"
        handlers = [name for name in given if name.startswith("on") or name == "style"]
        links = [value for value in given.values() if str(value).strip().lower().startswith(("javascript:", "data:"))]
        if is_code or tag == "style" or handlers or links:
            self.found.append(self.get_starttag_text())


def addresses():
    for model in admin.site._registry:
        name = name_of(model._meta.label, "{}")
        yield from (reverse(f"admin:{name.format(page)}") for page in ("changelist", "add"))
        row = model.objects.first()
        if row:
            yield from (
                reverse(f"admin:{name.format(page)}", args=[row.pk]) for page in ("change", "delete", "history")
            )
    yield from (reverse(f"admin:{name}") for name in ("index", "password_change", "password_change_done"))
    yield from ("/admin/nothing/", "/admin/auth/user/add/?_popup=1")


def test_no_page_holds_what_its_content_security_policy_forbids(operator, task):
    assert InlineFinder(Client().get(reverse("admin:login")).content.decode()).found == []
    for address in addresses():
        page = operator.get(address).content.decode()
        assert "<" in page, address
        assert InlineFinder(page).found == [], address


def test_the_page_of_a_relayed_call_tells_its_whole_story(operator, acme_key):
    call = relayed_steps.ended(acme_key, 40_000, channel_id=7, attempts=[{"channel": 7, "status": 429}])
    page = html(operator, "billing_relayedcall_change", call.id)
    for part in ("● settled", "gpt-5", "acme / key-1", "$0.04", "deleted: 7", "&quot;status&quot;: 429"):
        assert part in page
    for part in ("&quot;input&quot;: &quot;1.25&quot;", "hold, settled", "charge, customer: -$0.04"):
        assert part in page


def test_relayed_calls_are_found_by_id_model_state_and_what_is_to_look_at(operator, acme_key):
    calls = {
        "settled": relayed_steps.ended(acme_key, model="gpt-5-mini"),
        "loss": relayed_steps.ended(acme_key, None, is_loss=True),
        "estimated": relayed_steps.ended(acme_key, is_estimated=True),
    }
    for query, name in (
        ({"q": calls["settled"].id}, "settled"),
        ({"q": "gpt-5-mini"}, "settled"),
        ({"state": "released"}, "loss"),
        ({"care": "loss"}, "loss"),
        ({"care": "estimated"}, "estimated"),
    ):
        page = operator.get(reverse("admin:billing_relayedcall_changelist"), query).content.decode()
        assert [each for each, call in calls.items() if call.id in page] == [name], query


def test_no_two_tables_have_one_name():
    names = [str(model._meta.verbose_name_plural) for model in admin.site._registry]
    assert sorted(set(names)) == sorted(names)
    assert not [name for name in names if name.endswith("sss")]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("catalog_channel", "A channel is a provider"),
        ("accounts_account", "manage.py create_account NAME"),
        ("accounts_apikey", "manage.py create_key ACCOUNT"),
        ("accounts_group", "Each general key belongs to a group"),
        ("billing_hold", "Nothing here yet"),
    ],
)
def test_an_empty_list_says_what_would_be_in_it(operator, place, words):
    assert words in operator.get(reverse(f"admin:{place}_changelist")).content.decode()


def test_a_search_that_finds_nothing_leads_back_to_all(operator, acme_key):
    page = operator.get(reverse("admin:accounts_apikey_changelist"), {"q": "nobody"}).content.decode()
    assert "Nothing matches" in page
    assert 'href="?"' in page
