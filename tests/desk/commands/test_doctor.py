"""`doctor`: what it finds, what it advises, and how it ends."""

import io
import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from adapters import registry
from adapters.base import Target
from catalog import pausing, snapshot
from catalog.models import Channel, ChannelModel, Credential, Route
from common import ids
from config.settings import asset_storage
from desk.commands import doctor
from desk.commands.doctor import Finding
from tasks import paid_calls
from tasks.models import RouteSet, ServiceState, Task, TaskPayload, Worker
from tests.refusing import disable
from tests.rows import add_credential, make_channel, make_task
from tests.tasks import steps

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider() -> Iterator[str]:
    """The base URL of something that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@pytest.fixture
def of() -> Callable[[str], list[Finding]]:
    """What is found amiss by the check of that name."""
    return lambda check: [found for found in doctor.examine() if found.check == check and found.level != "ok"]


def test_a_sound_installation_has_only_good_findings(provider, settings):
    settings.WORKER_LEASE = 3_600
    make_channel("studio", "openai_images", provider)
    Worker.objects.create(id="w", host="here", pid=1, lanes="tasks")
    assert [found for found in doctor.examine() if found.level != "ok"] == []


def test_every_finding_that_is_not_good_says_what_to_do(settings):
    settings.DEVELOPMENT, settings.ALLOWED_HOSTS = True, ["*"]
    make_channel("studio", "openai_images", "http://127.0.0.1:1/v1")
    amiss = [found for found in doctor.examine() if found.level != "ok"]
    assert len(amiss) >= 4
    assert all(found.advice for found in amiss)


@pytest.mark.parametrize(
    ("name", "value", "levels"),
    [
        ("DEVELOPMENT", True, ["error"]),
        ("ALLOWED_HOSTS", ["elsewhere.example"], ["error"]),
        ("ALLOWED_HOSTS", ["*"], ["warning"]),
        ("PUBLIC_BASE_URL", "http://api.ours.example", ["warning"]),
        ("PUBLIC_BASE_URL", "http://127.0.0.1:8000", []),
        ("METRICS_TOKEN", "short", ["warning"]),
    ],
)
def test_what_is_amiss_in_the_settings_is_found(settings, of, name, value, levels):
    setattr(settings, name, value)
    assert [found.level for found in of("configuration")] == levels


def test_storage_that_cannot_be_written_is_an_error(settings, tmp_path, of):
    (tmp_path / "file").write_text("no folder")
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(f"file://{tmp_path}/file/assets")}
    assert [found.level for found in of("storage")] == ["error"]


def test_migrations_that_are_not_applied_are_an_error_and_end_the_questions_to_the_database(of):
    MigrationRecorder(connection).migration_qs.filter(app="billing").delete()
    assert "manage.py migrate" in of("database")[0].advice
    assert of("service") == []


def test_a_channel_nobody_answers_is_an_error(of):
    make_channel("studio", "openai_images", "http://127.0.0.1:1/v1")
    (found,) = of("channels")
    assert (found.level, "127.0.0.1:1" in found.message) == ("error", True)


def test_a_disabled_channel_is_left_alone(of):
    make_channel("studio", "openai_images", "http://127.0.0.1:1/v1", enabled=False)
    assert of("channels") == []


def test_a_credential_that_no_key_opens_is_an_error(provider, of):
    make_channel("studio", "openai_images", provider)
    Credential.objects.update(ciphertext="gAAAAA-of-another-key")
    assert "ENCRYPTION_KEYS" in of("channels")[0].advice


def test_a_channel_without_a_credential_is_an_error(provider, of):
    make_channel("studio", "openai_images", provider).credentials.all().delete()
    assert "load_catalog" in of("channels")[0].advice


def test_a_disabled_credential_beside_a_good_one_is_a_warning(provider, of):
    channel = make_channel("studio", "openai_images", provider)
    row = add_credential(channel, "the-second-credential-5678")
    disable(row, "quota_exhausted: No balance.")
    (found,) = of("channels")
    assert found.level == "warning"
    assert found.message.startswith("studio: credential …5678 is disabled since 20")
    assert found.message.endswith("quota_exhausted: No balance.")
    assert "probed again at" in found.advice
    assert "enable it in the admin" in found.advice


def test_a_channel_whose_only_credential_is_disabled_is_an_error_with_the_reason(provider, of):
    channel = make_channel("studio", "openai_images", provider)
    disable(channel.credentials.get())
    assert [found.level for found in of("channels")] == ["error", "warning"]
    assert "auth: Bad key." in of("channels")[1].message


def test_an_adapter_of_a_package_that_was_not_loaded_is_a_warning(monkeypatch, of):
    monkeypatch.setitem(registry.SKIPPED, "theirs", "package.adapter:Theirs: ValueError: it lacks probe")
    (found,) = of("adapters")
    assert found.level == "warning"
    assert found.message == "theirs was not loaded: package.adapter:Theirs: ValueError: it lacks probe"


def test_a_model_without_a_route_is_a_warning(image_model, of):
    image_model.routes.all().delete()
    assert [found.level for found in of("catalog")] == ["warning"]


def test_no_worker_and_a_switch_left_off_are_warnings(of):
    ServiceState.objects.update(paused=True)
    assert {found.advice for found in of("service")} == {"run `manage.py resume`", "start one: `manage.py run_worker`"}


def test_the_command_prints_one_json_object_and_fails_on_an_error():
    make_channel("studio", "openai_images", "http://127.0.0.1:1/v1")
    output = io.StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", "--json", stdout=output)
    answer = json.loads(output.getvalue())
    assert answer["ok"] is False
    assert {"check", "level", "message", "advice"} == set(answer["findings"][0])


def test_the_command_ends_well_with_warnings_only():
    output = io.StringIO()
    call_command("doctor", stdout=output)
    assert "run_worker" in output.getvalue()


def test_jobs_that_no_credential_is_left_for_are_named(of, key, video_model, video_channel):
    worker = steps.worker()
    task = steps.start(key, worker, steps.VIDEO)
    row = video_channel.credentials.get()
    target = Target(adapter="ark_content_tasks", base_url="https://old.example/api/v3", upstream_model="m")
    fields = {"channel_id": video_channel.pk, "credential_id": row.pk, "target": target}
    (intended,) = steps.intend(steps.intent(task, worker, **fields))
    paid_calls.accept(intended.id, {"id": "job-1"}, poll_after=60)
    (finding,) = of("jobs")
    assert finding.level == "error"
    named = f"{video_channel.name}: no credential of https://old.example is left for 1 paid jobs, such as {task.id}"
    assert finding.message == named


def test_a_credential_of_another_origin_than_its_channel_is_named(of, provider):
    make_channel("studio", "openai_images", provider)
    Channel.objects.update(base_url="https://elsewhere.example/v1")
    (finding,) = [finding for finding in of("channels") if finding.level == "error"]
    assert "was entered for" in finding.message
    assert "enter the secret" in finding.advice


FILM = {"prompt": "a fox runs", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}


def sent(key, channel, modality="image", params=FILM, **fields):
    """A task that was taken and ended, as an older version, or another catalog, let it pass."""
    route = Route.objects.get(channel=channel)
    task = make_task(key, modality=modality, channel=channel, route_id=route.pk, **{"id": ids.new_task_id(), **fields})
    TaskPayload.objects.create(task=task, params=params)
    return task


def of_fields():
    """What the check of fields finds amiss, without the connections of the others."""
    return [found for found in doctor.findings({"fields": doctor.fields}) if found.level != "ok"]


def told():
    return [found.message for found in of_fields()]


def test_fields_that_would_be_refused_now_are_counted_by_channel_model_and_path(key, video_model, video_channel):
    films = [
        {"service_tier": "flex"},
        {"service_tier": "flex", "seed": 7},
        {"seed": 7},
        {"tools": [{"a": 1}, {"b": 2}]},
    ]
    for options in films:
        sent(key, video_channel, "video", FILM | {"provider_options": options})
    assert told() == [
        "cinema, comet-video: params.provider_options.service_tier would be refused now; "
        "it is in 2 tasks of the last 30 days",
        "cinema, comet-video: params.provider_options.tools would be refused now; it is in 1 tasks of the last 30 days",
    ]
    assert all("extra_fields" in found.advice for found in of_fields())
    ChannelModel.objects.filter(channel=video_channel).update(extra_fields=["service_tier", "tools"])
    snapshot.forget()
    assert told() == []


def test_no_value_of_a_request_is_told(key, video_model, video_channel):
    sent(key, video_channel, "video", FILM | {"provider_options": {"safety_identifier": "s3cr3t-value"}})
    assert "safety_identifier" in told()[0]
    assert "s3cr3t-value" not in str(of_fields())


def test_a_command_in_a_prompt_is_told(key, video_model, video_channel):
    sent(key, video_channel, "video", FILM | {"prompt": "a fox --dur 12"})
    (found,) = of_fields()
    assert "params.prompt" in found.message
    assert "extra_fields" not in found.advice


def test_a_task_that_waits_is_judged_by_each_channel_model_that_may_run_it(key, video_model, video_channel):
    route = Route.objects.get(channel=video_channel)
    routes = RouteSet.objects.create(digest="d", routes=[route.pk, 987_654])
    params = FILM | {"provider_options": {"draft": True}}
    sent(key, video_channel, "video", params, status="queued")
    Task.objects.update(route_id=None, channel=None, route_set=routes)
    assert len(told()) == 1


def test_only_the_newest_tasks_of_thirty_days_are_read(key, video_model, video_channel, monkeypatch):
    draft = FILM | {"provider_options": {"draft": True}}
    sent(key, video_channel, "video", draft, id=ids.task_id_floor(time.time() - 31 * 86_400))
    assert told() == []
    sent(key, video_channel, "video", draft)
    assert len(told()) == 1
    monkeypatch.setattr("desk.commands.refused_fields.MOST_TASKS", 1)
    sent(key, video_channel, "video", FILM)
    assert told() == []
    (found,) = doctor.findings({"fields": doctor.fields})
    assert found.message.startswith("read 1 tasks of the last 30 days, the newest alone")


def test_tasks_that_cannot_be_read_or_run_no_more_are_passed_over(key, video_model, video_channel):
    for params in (None, {"duration": "x"}, [], FILM | {"provider_options": {"draft": True}, "modality": "x"}):
        sent(key, video_channel, "video", params)
    Route.objects.all().delete()
    snapshot.forget()
    assert told() == []


def test_what_is_paused_or_drained_is_told_lest_it_be_forgotten(image_channel, video_model, of):
    assert of("pauses") == []
    pausing.pause(image_channel)
    pausing.drain(video_model)
    told = [finding.message for finding in of("pauses")]
    assert [words.split(" since ")[0] for words in told] == [
        "channel studio is paused",
        "video model comet-video is drained",
    ]
