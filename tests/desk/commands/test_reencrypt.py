"""`reencrypt`: every secret goes to the first of ENCRYPTION_KEYS, and the command says when the others can go."""

import io
import json
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.core.management import call_command

from accounts import keys
from accounts.models import Group, KeySecret
from catalog import credentials, sealing
from catalog.models import Credential, GroupChannel
from common import encryption, sql
from desk.commands import doctor, reencryption
from tests.rows import make_channel
from tests.tasks import steps

pytestmark = pytest.mark.django_db(transaction=True)
LLM = "https://llm.example"


def run(*arguments: str) -> tuple[Any, int]:
    """What the command answers, and its exit status."""
    output, code = io.StringIO(), 0
    try:
        call_command("reencrypt", *arguments, stdout=output)
    except SystemExit as leave:
        code = int(leave.code or 0)
    text = output.getvalue()
    return (json.loads(text) if "--json" in arguments else text), code


@pytest.fixture
def secrets(key, image_channel, video_channel, settings) -> None:
    """Two credentials of channels, one of a group, and one of a key; a new key is first now, the old one second."""
    group = Group.objects.create(name="text", platform="openai")
    GroupChannel.objects.create(group=group, channel=make_channel("text-1", "openai_relay", LLM))
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.ENCRYPTION_KEYS]


def in_the_clear(key: Any) -> list[Any]:
    rows = Credential.objects.order_by("id")
    return [keys.reveal(key.record.secrets.get().pk), *(credentials.readable(row.ciphertext) for row in rows)]


def test_every_ciphertext_of_the_service_is_moved():
    tables = {model._meta.db_table for model in apps.get_models() if "ciphertext" in vars(model)}
    assert tables == set(reencryption.TABLES)


def test_after_it_the_first_key_alone_opens_everything(key, secrets, settings):
    before = in_the_clear(key)
    answer, code = run("--json")
    moved = {"channel credential": 3, "key secret": 1}
    assert (answer["moved"], answer["under_first_key"], answer["old_keys_can_go"], code) == (moved, 4, True, 0)
    settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[:1]
    assert in_the_clear(key) == before
    assert key.secret in before


def test_a_second_run_moves_nothing(secrets):
    run()
    before = list(KeySecret.objects.values_list("ciphertext"))
    answer, _ = run("--json")
    assert (answer["moved"], list(KeySecret.objects.values_list("ciphertext"))) == ({}, before)


def test_a_run_that_is_broken_off_is_taken_up_again(key, secrets):
    before, half = in_the_clear(key), reencryption.moves()
    next(half), next(half)
    half.close()
    assert reencryption.survey().under == {0: 2, 1: 2}
    assert in_the_clear(key) == before
    answer, _ = run("--json")
    assert (sum(answer["moved"].values()), answer["old_keys_can_go"]) == (2, True)


def test_a_row_that_was_written_meanwhile_keeps_what_was_written(secrets):
    *_, stale = (secret for secret in reencryption.stored() if secret.table == "catalog_credential")
    of_group = Credential.objects.filter(channel__name="text-1")
    of_group.update(ciphertext=sealing.seal({"api_key": "new"}, LLM))
    assert not reencryption.swap(stale)
    assert credentials.readable(of_group.get().ciphertext) == {"api_key": "new"}


def test_a_stale_copy_that_is_saved_does_not_bring_the_old_key_back(secrets):
    row, of_group = Credential.objects.order_by("id")[0], Credential.objects.get(channel__name="text-1")
    reencryption.move_all()
    for stale in (row, of_group):
        credentials.disable(stale, "by an operator")
        stale.save()
    assert Credential.objects.filter(disabled_at=None).count() == 1
    assert reencryption.survey().under_older == {}


def test_several_runs_at_once_do_no_harm(key, secrets):
    before = in_the_clear(key)
    moved = steps.at_once([reencryption.move_all] * 3)
    assert sum(sum(each.values()) for each in moved) == 4
    assert in_the_clear(key) == before


def test_pages_leave_nothing_out(secrets, monkeypatch):
    monkeypatch.setattr(reencryption, "PAGE", 1)
    assert sum(reencryption.move_all().values()) == 4


def test_what_no_key_opens_is_named_and_keeps_the_old_keys(secrets, settings):
    lost = Credential.objects.order_by("id")[0]
    sql.run("UPDATE catalog_credential SET ciphertext = 'unreadable' WHERE id = %s", [lost.pk])
    answer, code = run("--json")
    assert (answer["cannot_be_opened"], answer["old_keys_can_go"], code) == (
        [f"channel credential {lost.pk}"],
        False,
        1,
    )
    text, code = run()
    assert f"no key opens channel credential {lost.pk}" in text
    assert "The older keys cannot go yet." in text


def test_a_dry_run_tells_which_keys_are_needed_and_changes_nothing(secrets):
    before = list(Credential.objects.values_list("ciphertext"))
    answer, code = run("--json", "--dry-run")
    assert (answer["under_older_keys"], answer["old_keys_can_go"], code) == ([{"key": 2, "secrets": 4}], False, 0)
    assert list(Credential.objects.values_list("ciphertext")) == before
    assert "still under key 2 of ENCRYPTION_KEYS: 4; it must stay" in run("--dry-run")[0]


def test_it_says_that_the_old_keys_can_go_and_prints_no_secret(key, secrets, settings):
    text, code = run()
    assert ("The older keys can go" in text, code) == (True, 0)
    assert not [each for each in (*settings.ENCRYPTION_KEYS, key.secret, "text-1-credential-1234") if each in text]


def test_the_doctor_tells_of_secrets_under_an_older_key(secrets):
    def found() -> list[str]:
        return [finding.message for finding in doctor.examine() if finding.check == "secrets"]

    assert found() == ["4 secrets are under an older key of ENCRYPTION_KEYS"]
    run()
    assert found() == ["every stored secret is under the first of ENCRYPTION_KEYS"]
    lost = Credential.objects.get(channel__name="text-1")
    sql.run("UPDATE catalog_credential SET ciphertext = 'unreadable' WHERE id = %s", [lost.pk])
    assert found() == [f"no key of ENCRYPTION_KEYS opens channel credential {lost.pk}"]


def test_the_place_of_the_key_is_the_first_that_opens(settings):
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode() for _ in range(2)]
    under_second = Fernet(settings.ENCRYPTION_KEYS[1]).encrypt(b"text").decode()
    assert (encryption.opened_by(encryption.encrypt("text")), encryption.opened_by(under_second)) == (0, 1)
    assert encryption.decrypt(encryption.under_first_key(under_second)) == "text"
    assert encryption.opened_by("no token") is None
