"""create_key, rotate_key, disable_key and enable_key."""

import io
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from accounts import authentication
from accounts.models import ApiKey, Group
from catalog.models import CatalogVersion, Channel, PlanChoice, Route
from common.errors import AuthenticationError, ScopeRequired

pytestmark = pytest.mark.django_db


def opens(secret):
    return authentication.admit(f"Bearer {secret}").caller.key_id


def choices():
    return {(c.model.name, c.model.modality): c.plan.name for c in PlanChoice.objects.select_related("model", "plan")}


def test_a_new_key_opens_the_task_api(run, acme):
    answer = run("create_key", "acme")
    assert opens(answer["key"]) == answer["id"]


def test_the_answer_describes_the_key(run, acme):
    answer = run("create_key", "acme", "--max-queued", "3", "--max-running", "2", "--expires", "2090-01-31T12:00:00Z")
    assert answer.pop("key").startswith("dr-task-")
    assert answer == {
        "id": ApiKey.objects.get().pk,
        "account": "acme",
        "name": "key-1",
        "binding": "task",
        "group": None,
        "task_api": True,
        "videos_api": False,
        "max_queued": 3,
        "max_running": 2,
        "budget": {"day": None, "month": None},
        "expires_at": "2090-01-31T12:00:00Z",
        "disabled": False,
        "plans": [],
    }


def test_keys_have_the_documented_limits_by_default(run, acme):
    answer = run("create_key", "acme")
    assert (answer["max_queued"], answer["max_running"]) == (100, 20)


def test_a_key_without_a_name_takes_the_first_free_one(run, acme):
    run("create_key", "acme", "--name", "key-2")
    assert [run("create_key", "acme")["name"] for _ in range(2)] == ["key-1", "key-3"]


def test_a_name_is_taken_once_per_account(run, acme):
    run("create_account", "beta")
    run("create_key", "acme", "--name", "app")
    run("create_key", "beta", "--name", "app")
    with pytest.raises(CommandError, match="--name"):
        run("create_key", "acme", "--name", "app")


def test_a_key_can_be_kept_from_the_task_api(run, acme):
    answer = run("create_key", "acme", "--no-task-api")
    with pytest.raises(ScopeRequired):
        opens(answer["key"])


def test_a_key_can_be_let_in_to_the_videos_api(run, acme):
    answer = run("create_key", "acme", "--videos")
    assert answer["videos_api"] is True
    assert authentication.admit(f"Bearer {answer['key']}").caller.has_videos
    assert not authentication.admit(f"Bearer {run('create_key', 'acme')['key']}").caller.has_videos


def test_a_general_key_has_no_videos(run, acme):
    with pytest.raises(CommandError, match="--videos"):
        run("create_key", "acme", "--binding", "general", "--videos")


def test_a_general_key_has_a_group_and_no_task_api(run, acme):
    Group.objects.create(name="text", platform="openai")
    answer = run("create_key", "acme", "--binding", "general", "--group", "text")
    assert answer["key"].startswith("dr-gen-")
    assert (answer["group"], answer["task_api"]) == ("text", False)


def test_an_expired_key_opens_nothing(run, acme):
    answer = run("create_key", "acme", "--expires", "2020-01-01")
    with pytest.raises(AuthenticationError):
        opens(answer["key"])


def test_an_expiry_is_utc_unless_it_names_a_zone(run, acme):
    for text in ("2090-01-31", "2090-01-31T00:00:00", "2090-01-31T02:00:00+02:00"):
        run("create_key", "acme", "--expires", text)
    assert set(ApiKey.objects.values_list("expires_at", flat=True)) == {datetime(2090, 1, 31, tzinfo=UTC)}


EACH = {("aurora", "image"): "standard", ("aurora", "video"): "pro"}
PLANS: dict[str, tuple[list[str], dict[tuple[str, str], str]]] = {
    "it counts for every modality of the name": (["aurora=pro"], dict.fromkeys(EACH, "pro")),
    "it can be for one modality": (["aurora:video=pro"], {("aurora", "video"): "pro"}),
    "the one for a modality wins": (["aurora=standard", "aurora:video=pro"], EACH),
    "also where it comes first": (["aurora:video=pro", "aurora=standard"], EACH),
    "an alias stands for its model": (["dawn=pro"], {("aurora", "image"): "pro"}),
    "a model's name may hold a colon": (["vendor/model:video=pro"], {("vendor/model:video", "image"): "pro"}),
}


@pytest.mark.parametrize("promise", PLANS)
def test_plans_are_chosen_by_model_and_modality(run, acme, aurora, make_model, pro, promise):
    make_model("aurora", "video")
    make_model("vendor/model:video", "image")
    plans, expected = PLANS[promise]
    answer = run("create_key", "acme", *(f"--plan={plan}" for plan in plans))
    assert choices() == {(row["model"], row["modality"]): row["plan"] for row in answer["plans"]} == expected


def test_a_plan_choice_raises_the_catalog_version(run, acme, aurora, pro):
    before = CatalogVersion.objects.get().version
    run("create_key", "acme", "--plan", "aurora=pro")
    assert CatalogVersion.objects.get().version > before


def test_a_plan_without_a_route_is_taken_with_a_warning(acme, aurora, pro):
    warnings = io.StringIO()
    call_command("create_key", "acme", plan=["aurora=pro"], stdout=io.StringIO(), stderr=warnings)
    assert "aurora (image)=pro" in warnings.getvalue()
    assert choices() == {("aurora", "image"): "pro"}


def test_a_plan_with_a_route_needs_no_warning(acme, aurora, pro):
    Route.objects.create(plan=pro, model=aurora, channel=Channel.objects.create(name="studio"))
    warnings = io.StringIO()
    call_command("create_key", "acme", plan=["aurora=pro"], stdout=io.StringIO(), stderr=warnings)
    assert warnings.getvalue() == ""


NO_PLANS = [
    "", "aurora", "=pro", "aurora=", "aurora=gold", "dusk=pro", "aurora:video=pro", "aurora:=pro", "a\0=pro",
    "aurora=\0", "aurora=\udc80",
]  # fmt: skip


def test_an_unknown_model_or_plan_makes_no_key(refusal, acme, aurora, pro):
    for plan in NO_PLANS:
        assert refusal("create_key", "acme", f"--plan={plan}").startswith("--plan: "), repr(plan)
    assert not ApiKey.objects.exists()


def test_two_plans_for_one_model_are_refused(run, acme, aurora, pro):
    with pytest.raises(CommandError, match="--plan"):
        run("create_key", "acme", "--plan", "aurora=pro", "--plan", "dawn=standard")


BAD = [
    (["nobody"], "ACCOUNT"),
    (["a\udc80"], "ACCOUNT"),
    (["acme", "--name="], "--name"),
    (["acme", f"--name={'n' * 201}"], "--name"),
    (["acme", "--binding=both"], "--binding"),
    (["acme", "--group=text"], "--group"),
    (["acme", "--binding=general", "--group=none"], "--group"),
    (["acme", "--binding=general", "--group=\0"], "--group"),
    (["acme", "--binding=general", "--plan=aurora=pro"], "--plan"),
    (["acme", "--max-queued=-1"], "--max-queued"),
    (["acme", "--max-running=2147483648"], "--max-running"),
    (["acme", "--expires=soon"], "--expires"),
    (["acme", "--expires=0001-01-01T00:00:00+14:00"], "--expires"),
]


def test_a_bad_argument_is_named_and_makes_no_key(refusal, acme, aurora, pro):
    for arguments, named in BAD:
        assert refusal("create_key", *arguments).startswith(f"{named}: "), arguments
    assert not ApiKey.objects.exists()


def test_rotation_closes_the_old_secret_at_once_without_grace(run, acme_key):
    answer = run("rotate_key", str(acme_key.id))
    assert opens(answer["key"]) == acme_key.id == answer["id"]
    with pytest.raises(AuthenticationError):
        opens(acme_key.secret)


def test_rotation_with_grace_keeps_both_open(run, acme_key):
    answer = run("rotate_key", str(acme_key.id), "--grace", "3600")
    assert opens(answer["key"]) == opens(acme_key.secret) == acme_key.id


def test_a_disabled_key_stays_disabled_until_it_is_enabled(run, acme_key):
    for _ in range(2):
        assert run("disable_key", str(acme_key.id))["disabled"] is True
    with pytest.raises(AuthenticationError):
        opens(acme_key.secret)
    for _ in range(2):
        assert run("enable_key", str(acme_key.id))["disabled"] is False
    assert opens(acme_key.secret) == acme_key.id


@pytest.mark.parametrize("command", ["rotate_key", "disable_key", "enable_key"])
def test_an_unknown_key_is_named(refusal, command):
    for key_id in ("0", "-1", "999999", "9" * 30, "9223372036854775807", "acme/key-1", "", "1.0"):
        assert refusal(command, "--", key_id).startswith("KEY_ID: "), key_id


def test_a_bad_grace_leaves_the_old_secret_open(refusal, acme_key):
    for grace in ("-1", "2147483648", "soon"):
        assert refusal("rotate_key", str(acme_key.id), f"--grace={grace}").startswith("--grace: "), grace
    assert opens(acme_key.secret) == acme_key.id
