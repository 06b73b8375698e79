"""The example file of the project and the one of its contract, with the adapters that are really registered."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings

from adapters import registry
from adapters.base import TaskRequest
from catalog import listing, model_patterns, routing, snapshot
from catalog.file.load import load
from catalog.models import ChannelModel
from catalog.token_prices import TokenPrice

pytestmark = pytest.mark.django_db

CONTRACT = """
version: 1
models:
  - name: aurora-image            # unique per modality, aliases included
    modality: image
    aliases: [aurora]
    default_plan: standard
    pricing: {mode: image_matrix, prices: {"1K": 0.04, "2K": 0.08}}
    params:
      image_size: {values: ["1K", "2K"], default: "1K"}
      aspect_ratio: {values: ["1:1", "16:9"], default: "1:1"}
      n: {max: 4}
      images: {max: 4}
  - name: comet-video
    modality: video
    default_plan: standard
    pricing: {mode: video_duration, prices: {"720p": 0.10, "*": 0.20}}
channels:
  - name: studio
    adapter: openai_images
    base_url: http://127.0.0.1:8900/openai/v1
    credentials: {api_key: "${STUDIO_KEY:-sandbox}"}
    max_running: 20
    options: {}
    models:
      - model: aurora-image
        modality: image
        upstream_model: gpt-image-2
        capabilities: {}
        cost: {"1K": 0.02}
plans:
  - name: standard
    price_multiplier: 1
    routes:
      - {model: aurora-image, modality: image, channel: studio, priority: 10, weight: 1, resubmit_ambiguous: false}
"""


@pytest.fixture
def _stub_adapters() -> None:
    """None of them here."""


def test_the_example_offers_an_image_and_a_video_model() -> None:
    text = (Path(settings.BASE_DIR) / "catalog.example.yaml").read_text(encoding="utf-8")
    assert not load(text, environment={}).warnings
    assert [offer.model.name for offer in listing.offers(snapshot.latest(), 1)] == ["aurora-image", "comet-video"]
    assert not load(text, environment={}).changed


def test_the_example_has_a_group_of_each_platform_whose_models_have_prices() -> None:
    load((Path(settings.BASE_DIR) / "catalog.example.yaml").read_text(encoding="utf-8"), environment={})
    groups = {group.platform: group for group in snapshot.latest().groups()}
    assert set(groups) == {"openai", "anthropic", "gemini"}
    for group in groups.values():
        assert all(map(group.token_price, group.models or ()))
        assert group.channels[0].channel.base_url.startswith("http://127.0.0.1:8900/")
    pictures = groups["openai"].token_price("gpt-image-2")
    assert pictures is not None
    assert (pictures.image_output, pictures.max_output_tokens) == (30, 16_384)


VENDORS = {
    "gpt-5.2": {"input": "1.75", "output": "14"},
    "gpt-5.2-codex": {"input": "1.75", "output": "14", "cached_input": "0.175"},
    "gpt-5.5": {"input": "5", "output": "30", "cached_input": "0.5"},
    "gpt-5.6-sol": {"input": "4", "output": "20", "cached_input": "0.4", "cache_write": "5"},
    "gpt-6-sol": {"input": "2", "output": "10", "cached_input": "0.2", "cache_write": "2.5"},
    "gpt-6.2-astra": {"input": "8", "output": "40", "cached_input": "0.4", "cache_write": "10"},
    "claude-opus-5-5": {"input": "4", "output": "20", "cache_write": "5", "cache_write_1h": "8"},
    "claude-opus-5": {"input": "5", "output": "25", "cache_write": "6.25", "cache_write_1h": "10"},
    "claude-sonnet-5": {"input": "2", "output": "10", "cache_write": "2.5", "cache_write_1h": "4"},
    "claude-haiku-4-5-20251001": {"input": "1", "output": "5", "cache_write": "1.25", "cache_write_1h": "2"},
    "gemini-3.5-flash-lite": {"input": "0.3", "output": "2.5", "cached_input": "0.03"},
    "gemini-3-flash-preview": {"input": "0.5", "output": "3", "audio_input": "1"},
    "gemini-3.8-flash": {"input": "0.75", "output": "3.75"},
    "gemini-3.1-pro-preview": {"input": "2", "output": "12", "cached_input": "0.2"},
    "gemini-3-pro-image": {"input": "2", "output": "12", "image_output": "120"},
}
LONG = {
    "gpt-5.5": (272_000, {"input": "10", "output": "45", "cached_input": "1"}),
    "gpt-6.2-astra": (272_000, {"input": "16", "output": "60", "cached_input": "0.8", "cache_write": "20"}),
    "claude-haiku-5-5": (100_000, {"input": "0.5", "output": "2.5", "cached_input": "0.05", "cache_write_1h": "1"}),
    "gemini-3.1-pro-preview": (200_000, {"input": "4", "output": "18", "cached_input": "0.4"}),
}


def priced() -> dict[str, TokenPrice]:
    load((Path(settings.BASE_DIR) / "catalog.example.yaml").read_text(encoding="utf-8"), environment={})
    return {name: price for group in snapshot.latest().groups() for name, price in group.prices.items()}


def test_the_example_sells_no_model_of_the_agents_below_its_vendors_price() -> None:
    prices = priced()
    for name, vendors in VENDORS.items():
        amounts = prices[name].amounts()
        assert all(amounts[each] >= Decimal(usd) for each, usd in vendors.items()), name
    for name, (above, vendors) in LONG.items():
        amounts = prices[name].at(above + 1).amounts()
        assert all(amounts[each] >= Decimal(usd) for each, usd in vendors.items()), name


def test_each_model_of_the_example_has_its_own_price_and_limits() -> None:
    for name, price in priced().items():
        assert not model_patterns.is_wild(name)
        assert price.max_output_tokens
        assert price.max_input_tokens or name.startswith("gpt-image-")
        assert price.has("cache_write_1h") == name.startswith("claude-")


def test_a_text_model_of_the_example_is_not_held_at_the_price_of_pictures() -> None:
    pictured = {name for name, price in priced().items() if price.image_output != price.output}
    assert pictured == {"gemini-3-pro-image", "gemini-3.1-flash-image", "gemini-nano-banana-2.1"}


def test_the_contracts_example_loads_with_a_warning_for_the_model_without_a_route() -> None:
    assert load(CONTRACT, environment={}).warnings == [
        "video model comet-video has no enabled route in its default plan standard"
    ]


def test_the_providers_file_has_a_channel_of_every_protocol_switched_off() -> None:
    text = (Path(settings.BASE_DIR) / "catalog.providers.yaml").read_text(encoding="utf-8")
    load(text, environment={})
    catalog = snapshot.latest()
    of_tasks = {name for name, adapter in registry.ADAPTERS.items() if adapter.modalities}
    assert {channel.adapter for channel in catalog.channels()} == of_tasks
    assert not any(channel.enabled for channel in catalog.channels())
    assert listing.offers(catalog, 1) == []


def test_the_providers_file_serves_what_it_says_once_it_is_switched_on() -> None:
    text = (Path(settings.BASE_DIR) / "catalog.providers.yaml").read_text(encoding="utf-8")
    load(text.replace("enabled: false", "enabled: true"), environment={})
    catalog = snapshot.latest()
    asked = {
        "picture": TaskRequest(modality="image", prompt="a fox", image_size="1K", aspect_ratio="1:1"),
        "film": TaskRequest(modality="video", prompt="a fox", duration=5, resolution="720p", aspect_ratio="16:9"),
    }
    served = {
        name: {
            judgement.route.channel.name: [reason.field for reason in judgement.reasons]
            for judgement in routing.judge(catalog.routes(model.default_plan_id, model.id), model, request)
        }
        for name, request in asked.items()
        if (model := catalog.model(name, request.modality))
    }
    assert not any(served["picture"].values())
    passed_over = {channel: fields for channel, fields in served["film"].items() if fields}
    assert passed_over == {
        "minimax": ["params.resolution"],
        "own-gpus": ["params.resolution"],
        "openrouter": ["params.duration"],
        "replicate": ["params.resolution"],
    }


@pytest.mark.parametrize("name", ["catalog.example.yaml", "catalog.providers.yaml"])
def test_the_shipped_files_bound_what_openai_makes(name: str) -> None:
    load((Path(settings.BASE_DIR) / name).read_text(encoding="utf-8"), environment={})
    offers = ChannelModel.objects.filter(channel__adapter="openai_images").select_related("channel")
    assert [offer.fixed for offer in offers if not offer.channel.options] == [{"quality": "medium"}]
