"""Applying a catalog file: what it writes, what it leaves, what it removes."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from accounts.models import Group
from catalog import snapshot
from catalog.file.dump import dump
from catalog.file.load import CatalogFileError, load
from catalog.models import (
    CatalogVersion,
    Channel,
    ChannelModel,
    Credential,
    GroupChannel,
    GroupOffer,
    MediaModel,
    ModelName,
    Plan,
    PlanChoice,
    Route,
)
from tests.catalog.conftest import FILE
from tests.rows import IssuedKey, make_account, make_key, opened

pytestmark = pytest.mark.django_db

EMPTY = "version: 1"


def names(kind: type) -> set[str]:
    return set(kind.objects.values_list("name", flat=True))


def version() -> int:
    return CatalogVersion.objects.get().version


def test_a_file_becomes_rows() -> None:
    report = load(FILE)
    assert len(report.created) == 10
    assert names(Plan) == {"standard"}
    assert names(ModelName) == {"aurora-image", "aurora", "comet-video"}
    assert Channel.objects.get(name="studio").max_running == 20
    assert ChannelModel.objects.get(channel__name="studio").cost == {"1K": "0.02"}
    assert Route.objects.count() == 2
    (route,) = Route.objects.filter(channel__name="studio")
    entry = snapshot.latest().route(route.pk)
    assert entry is not None
    assert entry.target.extra_fields == ["user"]
    assert entry.target.fixed == {"quality": "medium", "svg": {"effort": "low"}}


class Environment(dict[str, str]):
    """Notes for each variable that is read whether a transaction is open."""

    def __init__(self, **variables: str) -> None:
        super().__init__(variables)
        self.seen: list[bool] = []

    def get(self, name: str, *default: Any) -> Any:
        self.seen.append(connection.in_atomic_block)
        return super().get(name, *default)


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_while_a_file_is_read() -> None:
    environment = Environment(STUDIO_KEY="a-key-of-the-studio")
    load(FILE, environment=environment)
    assert environment.seen == [False]


def test_prices_are_stored_exactly() -> None:
    load(FILE.replace('"1K": 0.04', '"1K": 0.1, "4K": "12345.678901234567"'))
    (model,) = snapshot.latest().models_named("aurora")
    assert model.prices == {"1K": Decimal("0.1"), "2K": Decimal("0.08"), "4K": Decimal("12345.678901234567")}


def test_a_second_load_changes_nothing_and_keeps_the_version() -> None:
    load(FILE)
    before = version()
    report = load(FILE)
    assert (report.created, report.changed, report.removed) == ([], [], [])
    assert len(report.unchanged) == 10
    assert version() == before


def test_a_second_load_with_prune_changes_nothing_either() -> None:
    load(FILE)
    before = version()
    report = load(FILE, prune=True)
    assert (report.created, report.changed, report.removed, version()) == ([], [], [], before)


def test_a_dry_run_tells_and_writes_nothing() -> None:
    before = version()
    report = load(FILE, dry_run=True)
    assert report.created
    assert (Plan.objects.count(), version()) == (0, before)


CHANGES = [
    ('"2K": 0.08', '"2K": 0.09', "media model aurora-image (image): prices"),
    ("images: {max: 4}", "images: {max: 0}", "media model aurora-image (image): params"),
    ("[aurora]", "[aurora, dawn]", "media model aurora-image (image): aliases"),
    ("max_running: 20", "max_running: null", "channel studio: max_running"),
    ("options: {}", "options: {dialect: x}", "channel studio: options"),
    ("{api_key: sandbox}", "{api_key: other}", "channel cinema: credentials"),
    ("capabilities: {}", "capabilities: {max_n: 2}", "channel model studio · aurora-image (image): capabilities"),
    ("extra_fields: [user]", "extra_fields: []", "channel model studio · aurora-image (image): extra_fields"),
    ("effort: low", "effort: high", "channel model studio · aurora-image (image): fixed"),
    ("price_multiplier: 1", "price_multiplier: 1.25", "plan standard: price_multiplier"),
    ("weight: 1", "weight: 2", "route standard: aurora-image (image) → studio: weight"),
    ("image_generation: true", "image_generation: false", "group text: image_generation"),
    ("k-1234567890-abcd", "k-1234567890-efgh", "group text: channels"),
    ("models: [gpt-5.2, gpt-image-2]", "models: null", "group text: models_listed"),
]


def test_one_difference_is_one_change_and_raises_the_version() -> None:
    for old, new, changed in CHANGES:
        load(FILE, prune=True)
        before = version()
        report = load(FILE.replace(old, new, 1))
        assert (report.changed, report.created) == ([changed], []), new
        assert version() > before, new


def test_true_and_1_are_different_capabilities() -> None:
    load(FILE.replace("capabilities: {}", "capabilities: {max_n: 1}"))
    assert load(FILE.replace("capabilities: {}", "capabilities: {max_n: true}")).changed


def test_what_the_file_does_not_name_stays_without_prune() -> None:
    load(FILE)
    load(EMPTY)
    assert MediaModel.objects.count() == 2


def test_prune_removes_what_the_file_does_not_name() -> None:
    load(FILE)
    report = load(EMPTY, prune=True)
    kinds = (MediaModel, ModelName, Plan, Channel, ChannelModel, Credential, Route, Group, GroupOffer, GroupChannel)
    assert [kind.objects.count() for kind in kinds] == [0] * len(kinds)
    assert len(report.removed) == 10


def test_prune_leaves_a_busy_channel_disabled_with_its_credential() -> None:
    load(FILE)
    studio = Channel.objects.get(name="studio")
    report = load(EMPTY, prune=True, channels_in_use={studio.pk})
    studio.refresh_from_db()
    assert not studio.enabled
    assert opened(studio) is not None
    assert any("running tasks" in warning for warning in report.warnings)


def test_channels_of_a_group_that_share_an_address_keep_their_own_secrets() -> None:
    address = "base_url: https://llm.example/v1"
    group = "version: 1\ngroups:\n  - {name: text, platform: openai, channels: [%s]}"
    both = group % f"{{{address}, credentials: {{api_key: one}}}}, {{{address}, credentials: {{api_key: two}}}}"
    bare = group % f"{{{address}}}, {{{address}}}"
    load(both)
    assert load(both).changed == []
    assert load(dump()).changed == []
    assert load(bare).changed == []
    load(bare.replace(f"{{{address}}}]", f"{{{address}, priority: 20}}]"))
    links = GroupChannel.objects.order_by("id").select_related("channel")
    assert [(link.channel.name, opened(link.channel)) for link in links] == [
        ("text-1", {"api_key": "one"}),
        ("text-2", {"api_key": "two"}),
    ]


def test_prune_leaves_a_group_with_keys() -> None:
    load(FILE)
    make_key(make_account("a"), binding="general", group=Group.objects.get())
    report = load(EMPTY, prune=True)
    assert Group.objects.count() == 1
    assert any("has keys" in warning for warning in report.warnings)


def test_prune_of_a_plan_returns_its_keys_to_the_default(key: IssuedKey) -> None:
    gold = FILE.replace("groups:", "  - {name: gold}\ngroups:")
    load(gold)
    PlanChoice.objects.create(key=key.record, model=MediaModel.objects.first(), plan=Plan.objects.get(name="gold"))
    load(FILE, prune=True)
    assert (names(Plan), PlanChoice.objects.count()) == ({"standard"}, 0)


def test_a_pruned_rename_may_keep_the_old_name_as_an_alias() -> None:
    load(FILE)
    renamed = FILE.replace("name: aurora-image", "name: aurora-two").replace("model: aurora-image", "model: aurora-two")
    load(renamed.replace("[aurora]", "[aurora, aurora-image]"), prune=True)
    assert {model.name for model in snapshot.latest().models_named("aurora-image")} == {"aurora-two"}


def test_two_models_may_swap_their_aliases() -> None:
    text = """
version: 1
plans: [{name: p}]
models:
  - {name: a, modality: video, aliases: [one], default_plan: p, pricing: {mode: per_request, prices: {"*": 1}}}
  - {name: b, modality: video, aliases: [two], default_plan: p, pricing: {mode: per_request, prices: {"*": 1}}}
"""
    load(text)
    load(text.replace("one", "x").replace("two", "one").replace("[x]", "[two]"))
    assert snapshot.latest().models_named("one")[0].name == "b"
    assert snapshot.latest().models_named("two")[0].name == "a"


def test_a_file_may_build_on_what_is_stored() -> None:
    load(FILE)
    route = "{model: aurora-image, channel: studio, priority: 3}"
    load(f"version: 1\nplans: [{{name: gold, price_multiplier: 0.5, routes: [{route}]}}]")
    assert Route.objects.get(plan__name="gold").model.name == "aurora-image"


def test_a_model_without_a_route_loads_with_a_warning() -> None:
    marble = "{name: marble, modality: 3d, default_plan: standard, pricing: {mode: per_request, prices: {'*': 1}}}"
    report = load(FILE.replace("channels:\n  - name: studio", f"  - {marble}\nchannels:\n  - name: studio"))
    assert report.warnings == ["3d model marble has no enabled route in its default plan standard"]


def test_disabled_entries_stay_disabled() -> None:
    load(FILE.replace("upstream_model: seedance}", "upstream_model: seedance, enabled: false}"))
    catalog = snapshot.latest()
    (model,) = catalog.models_named("comet-video")
    assert catalog.routes(model.default_plan_id, model.id) == ()


def test_variables_come_from_the_environment() -> None:
    load(FILE, environment={"STUDIO_KEY": "from-outside"})
    assert opened(Channel.objects.get(name="studio")) == {"api_key": "from-outside"}


def test_a_default_stands_in_for_a_missing_variable() -> None:
    load(FILE, environment={})
    assert opened(Channel.objects.get(name="studio")) == {"api_key": "sandbox-key-of-the-studio"}


def test_numbers_and_switches_may_come_from_the_environment() -> None:
    text = FILE.replace("max_running: 20", "max_running: ${SEATS}").replace("priority: 10,", 'priority: "${RANK}",')
    load(text, environment={"SEATS": "7", "RANK": "-3"})
    assert Channel.objects.get(name="studio").max_running == 7
    assert Route.objects.get(channel__name="studio").priority == -3


def test_credentials_are_encrypted_at_rest_and_shown_by_their_end() -> None:
    load(FILE)
    credential = Credential.objects.get(channel__name="studio")
    assert "sandbox" not in credential.ciphertext
    assert credential.last4 == "udio"
    assert Credential.objects.get(channel__name="cinema").last4 == ""


def test_absent_credentials_leave_the_stored_ones() -> None:
    load(FILE)
    report = load(FILE.replace("    credentials: {api_key: sandbox}\n", ""))
    assert not report.changed
    assert opened(Channel.objects.get(name="cinema")) is not None


def test_a_new_credential_enables_a_disabled_one() -> None:
    load(FILE)
    Credential.objects.update(disabled_at="2026-01-01T00:00:00Z", reason="401")
    assert load(FILE).warnings
    load(FILE.replace("{api_key: sandbox}", "{api_key: fresh}"))
    assert opened(Channel.objects.get(name="cinema")) is not None


def test_a_refused_file_writes_nothing() -> None:
    load(FILE)
    before = version()
    with pytest.raises(CatalogFileError):
        load(FILE.replace("0.04", "0.05").replace("channel: cinema", "channel: nowhere"))
    assert version() == before
    assert MediaModel.objects.get(modality="image").prices["1K"] == "0.04"
