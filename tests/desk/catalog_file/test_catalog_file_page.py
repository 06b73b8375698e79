"""The catalog as a file at the desk: its differences in words, and applying what was looked at."""

import html
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group as UserGroup
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from catalog import snapshot
from catalog.file import dump
from catalog.models import Channel, Credential, MediaModel, Plan
from tests.desk.access.test_proof import A_QUARTER, PASSWORD, is_asked, prove, wait
from tests.desk.models_page.steps import SentForm
from tests.rows import make_key, make_route, opened

pytestmark = pytest.mark.django_db

FILE, DIFFERENCES, APPLY = (f"admin:catalog_file{suffix}" for suffix in ("", "_differences", "_apply"))
SECRET = "a-secret-that-is-long-9876"


@pytest.fixture
def text(image_model, video_model) -> str:
    """The catalog as it is, without credentials."""
    return dump.dump_without_credentials()


def compare(client: Client, text: str, **fields: Any):
    return client.post(reverse(DIFFERENCES), {"text": text, **fields})


def sentences(answer) -> list[str]:
    assert answer.context.get("problems", []) == []
    return [each.text for each in answer.context["found"].sentences]


def apply(client: Client, answer, reason: str = "new prices"):
    sealed = answer.context["form"].initial["looked_at"]
    return client.post(reverse(APPLY), {"looked_at": sealed, "reason": reason}, follow=True)


def user_of(group: str) -> Client:
    client = Client()
    user = User.objects.create_user(group, is_staff=True)
    user.groups.add(UserGroup.objects.get(name=group))
    client.force_login(user)
    return client


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_opened_for_what_is_no_catalog_file(operator):
    with CaptureQueriesContext(connection) as seen:
        answer = compare(operator, "models: [")
    assert answer.context["problems"]
    assert not [query["sql"] for query in seen if query["sql"].startswith("BEGIN")]


def test_a_price_is_told_in_words_and_then_applied_with_a_reason(operator, text, image_model, image_channel, key):
    gold = Plan.objects.create(name="gold")
    make_route(gold, image_model, image_channel, upstream_model="x")
    make_key(key.account, "second")
    answer = compare(operator, dump.dump_without_credentials().replace("2K: 0.08", "2K: 0.07"))
    assert sentences(answer) == ["Price of aurora-image 2K $0.08 → $0.07, for 2 plans, 2 keys."]
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.08"
    page = apply(operator, answer).content.decode()
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.07"
    assert snapshot.latest().version == snapshot.stored_version()
    entry = LogEntry.objects.get()
    assert (entry.user.username, "new prices | Price of aurora-image 2K $0.08" in entry.change_message) == (
        "operator",
        True,
    )
    assert "new prices" in page


def test_the_page_begins_with_the_catalog_as_it_is_which_changes_nothing(operator, text):
    page = operator.get(reverse(FILE)).content.decode()
    given = operator.get(reverse(FILE)).context["form"].initial["text"]
    assert given == text
    answer = compare(operator, given)
    assert answer.context["found"].is_empty
    assert "changes nothing" in answer.content.decode()
    assert "sealed_credentials" in page


def test_an_uploaded_file_prunes_what_it_does_not_name(operator, text, video_model):
    upload = SimpleUploadedFile("c.yaml", b"version: 1\nmodels: []\nchannels: []\nplans: []\n")
    answer = operator.post(reverse(DIFFERENCES), {"file": upload, "prune": "on"})
    assert "Model comet-video is removed." in sentences(answer)
    assert MediaModel.objects.count() == 2
    apply(operator, answer)
    assert [kind.objects.count() for kind in (MediaModel, Channel, Plan)] == [0, 0, 0]


def test_what_is_wrong_is_told_with_its_path_and_the_text_stays(operator, text):
    answer = compare(operator, text.replace("2K: 0.08", "2K: -1"))
    assert answer.context["problems"] == ["models[0].pricing.prices.2K: must be between 0 and 100000"]
    assert "2K: -1" in html.unescape(answer.content.decode())
    assert compare(operator, "a: &a [1]\nb: [*a").context["problems"] != []


def test_no_variable_of_the_server_is_filled_in(operator, text, settings, monkeypatch):
    monkeypatch.setenv("STUDIO_KEY", "the-servers-own-secret")
    for given in ("${STUDIO_KEY}", "${STUDIO_KEY:-x}", "${NOT_THERE:-x}"):
        answer = compare(operator, text.replace("name: aurora-image", f'name: "{given}"', 1))
        assert "load_catalog alone" in answer.context["problems"][0], given
        assert "the-servers-own-secret" not in answer.content.decode()
    assert not LogEntry.objects.exists()


def test_a_text_of_endless_aliases_is_refused(operator, text):
    bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    assert compare(operator, bomb).context["problems"] == ["has more than 200000 values"]


def with_secret(text: str) -> str:
    return text.replace("name: studio\n", f"name: studio\n  credentials: {{api_key: {SECRET}}}\n", 1)


def test_a_secret_is_stored_and_is_in_no_page(operator, text):
    broken = compare(operator, with_secret(text).replace("2K: 0.08", "2K: -1")).content.decode()
    answer = compare(operator, with_secret(text))
    assert "Channel studio: credential …9876 is new." in sentences(answer)
    page = apply(operator, answer)
    assert opened(Channel.objects.get(name="studio")) == {"api_key": SECRET}
    for shown in (broken, answer.content.decode(), page.content.decode(), LogEntry.objects.get().change_message):
        assert SECRET not in shown


def test_changing_credentials_needs_its_right(text):
    client = user_of("operator")
    user = User.objects.get(username="operator")
    group = UserGroup.objects.get(name="operator")
    group.permissions.remove(*group.permissions.filter(codename="change_credentials"))
    moved = text.replace("https://images.provider.example/v1", "https://images.provider.example/v2")
    for given in (with_secret(text), moved):
        answer = compare(client, given)
        assert "right to change credentials" in answer.content.decode()
        assert "Apply the file" not in answer.content.decode()
        assert apply(client, answer).status_code == 403
    assert not Credential.objects.filter(last4="9876").exists()
    assert Channel.objects.get(name="studio").base_url.endswith("/v1")
    assert "sealed_credentials: " not in client.get(reverse(FILE)).content.decode()
    assert apply(client, compare(client, text.replace("2K: 0.08", "2K: 0.07"))).status_code == 200
    assert LogEntry.objects.get().user == user


def test_who_may_only_look_sees_the_file_and_cannot_send_one(text):
    viewer = user_of("viewer")
    page = viewer.get(reverse(FILE)).content.decode()
    assert "aurora-image" in page
    assert "Preview the changes" not in page
    assert compare(viewer, text).status_code == 403
    assert Client().get(reverse(FILE)).status_code == 302


def test_it_is_applied_to_the_catalog_that_was_looked_at_alone(operator, text, image_model):
    answer = compare(operator, text.replace("2K: 0.08", "2K: 0.07"))
    MediaModel.objects.get(pk=image_model.pk).save()
    page = apply(operator, answer)
    assert "has changed in the meantime" in page.content.decode()
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.08"
    apply(operator, page)
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.07"
    assert apply(operator, page).status_code == 200
    assert LogEntry.objects.count() == 1


def test_without_a_reason_or_what_was_looked_at_nothing_is_applied(operator, text):
    answer = compare(operator, text.replace("2K: 0.08", "2K: 0.07"))
    assert "This field is required." in apply(operator, answer, reason="").content.decode()
    for sealed in ("", "x", answer.context["form"].initial["looked_at"][:-4] + "AAAA"):
        operator.post(reverse(APPLY), {"looked_at": sealed, "reason": "r"})
    other = Client()
    other.force_login(User.objects.create_superuser("other"))
    apply(other, answer)
    assert operator.get(reverse(APPLY)).status_code == 405
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.08"


def test_the_form_of_the_differences_sends_what_was_looked_at(operator, text):
    page = compare(operator, text.replace("2K: 0.08", "2K: 0.07")).content.decode()
    fields = SentForm(page, "apply_form").fields
    operator.post(reverse(APPLY), fields | {"reason": "r"})
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.07"


def test_applying_asks_for_the_password_again_and_goes_on_with_it(text, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password=PASSWORD))
    answer = compare(client, with_secret(text).replace("2K: 0.08", "2K: 0.07"))
    wait(client, A_QUARTER)
    asked = apply(client, answer)
    assert is_asked(asked)
    assert SECRET not in asked.content.decode()
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.08"
    prove(client, asked)
    assert MediaModel.objects.get(name="aurora-image").prices["2K"] == "0.07"


def test_a_file_that_removes_nothing_reads_no_paid_call(operator, text):
    for prune, reads in (({}, False), ({"prune": "on"}, True)):
        with CaptureQueriesContext(connection) as queries:
            compare(operator, text, **prune)
        assert any("tasks_call" in query["sql"] for query in queries) == reads
