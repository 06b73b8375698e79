"""What the operator is told about the stored catalog, and its credentials."""

from typing import Any

import pytest
from cryptography.fernet import Fernet

from catalog import checks, connections, credentials, sealing
from catalog.models import Channel, ChannelModel, Credential, MediaModel, Plan, Route
from tests.rows import add_credential, make_channel, make_route, opened

pytestmark = pytest.mark.django_db


def test_a_catalog_in_order_has_no_problems(routed: MediaModel) -> None:
    assert checks.problems() == []


def test_a_model_without_an_enabled_route_is_a_problem(routed: MediaModel) -> None:
    for change in (lambda: Route.objects.update(enabled=False), Route.objects.all().delete):
        change()
        assert checks.problems() == ["image model aurora has no enabled route in its default plan standard"]


def test_a_tier_without_a_price_is_a_problem(routed: MediaModel) -> None:
    MediaModel.objects.update(prices={"1K": "0.04"})
    assert checks.problems() == ["image model aurora has no price for 2K"]


def test_a_model_without_tiers_that_is_priced_by_tier_is_a_problem(routed: MediaModel) -> None:
    MediaModel.objects.update(params={"n": {"max": 4}})
    assert checks.problems() == [
        "image model aurora is not offered, as it offers no image_size: add image_size: "
        '{values: ["1K", "2K"], default: "1K"} to its params, or price it by the mode per_request'
    ]


def test_a_model_of_an_unknown_pricing_mode_is_a_problem(routed: MediaModel) -> None:
    MediaModel.objects.update(pricing_mode="audio_seconds")
    assert checks.problems() == [
        "image model aurora is not offered, as no pricing mode is named audio_seconds: "
        "choose image_matrix or video_duration or per_request"
    ]


def test_a_channel_without_a_credential_is_a_problem(studio: Channel) -> None:
    Credential.objects.all().delete()
    assert checks.problems() == ["channel studio has no credential"]


def test_a_disabled_credential_is_a_problem_and_what_to_do_is_told(studio: Channel) -> None:
    Credential.objects.update(disabled_at="2026-01-01T00:00:00Z", reason="401 from the provider")
    assert checks.problems() == [
        "channel studio: credential …1234 is disabled since 2026-01-01 00:00:00 UTC: 401 from the provider; "
        "enable it in the admin, or store a new one"
    ]
    assert opened(studio) is None


def test_the_next_probe_of_a_disabled_credential_is_told(studio: Channel) -> None:
    Credential.objects.update(disabled_at="2026-01-01T00:00:00Z", reason="x", probe_at="2026-01-01T00:00:30Z")
    assert "it is probed again at 2026-01-01 00:00:30 UTC; or enable" in checks.problems()[0]


def test_a_disabled_credential_beside_a_good_one_is_a_problem(studio: Channel) -> None:
    row = add_credential(studio, "a-second-credential-9999")
    credentials.disable(row, "by an operator")
    row.save()
    (problem,) = checks.problems()
    assert problem.startswith("channel studio: credential …9999 is disabled since")


def test_a_credential_that_no_key_opens_is_a_problem(studio: Channel, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert checks.problems() == ["channel studio: no key of ENCRYPTION_KEYS opens its credential …1234"]


@pytest.mark.parametrize(("values", "has"), [({"key": "x"}, "key"), ({}, "nothing")])
def test_a_credential_under_the_wrong_name_is_a_problem(studio: Channel, values: dict[str, str], has: str) -> None:
    Credential.objects.update(ciphertext=sealing.seal(values, Credential.objects.get().origin))
    assert checks.problems() == [f"channel studio: its credential needs api_key; it has {has}"]


def test_an_unregistered_adapter_is_a_problem() -> None:
    make_channel("old", "vanished", "https://x.example")
    assert checks.problems() == ["channel old: adapter vanished is not registered"]


def test_a_disabled_channel_has_no_problems(studio: Channel) -> None:
    Credential.objects.all().delete()
    Channel.objects.update(enabled=False)
    assert checks.problems() == []


def test_a_credential_shows_only_the_end_of_a_long_secret() -> None:
    assert credentials.last4({"api_key": "0123456789abcdef"}) == "cdef"
    assert credentials.last4({"api_key": "short"}) == ""
    assert credentials.last4({}) == ""


def test_an_opened_credential_does_not_repeat_its_secret(studio: Channel) -> None:
    found = connections.opened(Credential.objects.get())
    assert found is not None
    assert found.values["api_key"] not in repr(found)


def test_a_listed_value_that_no_route_can_express_is_a_problem(routed: MediaModel, plan: Plan) -> None:
    ChannelModel.objects.update(capabilities={"max_n": 2, "refuses": ["params.images"]})
    assert checks.problems() == [
        "image model aurora is not offered: no route can express a priced request of its params"
    ]
    ChannelModel.objects.update(capabilities={"max_n": 2})
    assert checks.problems() == ["image model aurora lists n up to 4; no route can express more than 2"]
    ChannelModel.objects.update(capabilities={"tier": "2K"})
    MediaModel.objects.update(prices={"2K": "0.08"})
    assert checks.problems() == ["image model aurora has no price for 1K"]


def test_a_value_that_a_route_of_any_plan_can_express_is_none(routed: MediaModel, atelier: Channel) -> None:
    ChannelModel.objects.update(capabilities={"max_n": 2})
    make_route(Plan.objects.create(name="gold"), routed, atelier, upstream_model="x")
    assert checks.problems() == []
