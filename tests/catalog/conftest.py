"""A catalog on stub adapters, as rows and as a file."""

import pytest

from adapters import registry
from adapters.relay.adapter import AnthropicRelay, GeminiRelay, OpenAIRelay
from catalog.models import Channel, MediaModel, Plan
from tests.catalog.stubs import StubFilms, StubImages
from tests.rows import IMAGE_PARAMS, make_channel, make_model, make_route

FILE = """
version: 1
models:
  - name: aurora-image
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
    adapter: stub_images
    base_url: http://127.0.0.1:8900/openai/v1
    credentials: {api_key: "${STUDIO_KEY:-sandbox-key-of-the-studio}"}
    max_running: 20
    options: {}
    models:
      - {model: aurora-image, modality: image, upstream_model: gpt-image-2, capabilities: {}, cost: {"1K": 0.02},
         extra_fields: [user], fixed: {quality: medium, svg: {effort: low}}}
  - name: cinema
    adapter: stub_films
    base_url: http://127.0.0.1:8900/ark/api/v3
    credentials: {api_key: sandbox}
    models:
      - {model: comet-video, modality: video, upstream_model: seedance}
plans:
  - name: standard
    price_multiplier: 1
    routes:
      - {model: aurora-image, modality: image, channel: studio, priority: 10, weight: 1, resubmit_ambiguous: false}
      - {model: comet-video, modality: video, channel: cinema}
groups:
  - name: text
    platform: openai
    image_generation: true
    channels: [{base_url: "https://llm.example/v1", credentials: {api_key: "k-1234567890-abcd"}, priority: 10}]
    models: [gpt-5.2, gpt-image-2]
    prices: {gpt-5.2: {input: 1.25, output: 10, cached_input: 0.125, max_output_tokens: 128000}}
    image_prices: {gpt-image-2: 0.04}
"""


@pytest.fixture(autouse=True)
def _stub_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    known = (StubImages(), StubFilms(), OpenAIRelay(), AnthropicRelay(), GeminiRelay())
    monkeypatch.setattr(registry, "ADAPTERS", {adapter.protocol: adapter for adapter in known})


@pytest.fixture
def studio(db: None) -> Channel:
    return make_channel("studio", "stub_images", "https://studio.example/v1")


@pytest.fixture
def atelier(db: None) -> Channel:
    """A second image channel."""
    return make_channel("atelier", "stub_images", "https://atelier.example/v1")


@pytest.fixture
def aurora(plan: Plan) -> MediaModel:
    """An image model without a route."""
    return make_model("aurora", "image", plan=plan, prices={"1K": "0.04", "2K": "0.08"}, params=IMAGE_PARAMS)


@pytest.fixture
def routed(plan: Plan, aurora: MediaModel, studio: Channel) -> MediaModel:
    """The image model with one route."""
    make_route(plan, aurora, studio, upstream_model="gpt-image-2")
    return aurora
