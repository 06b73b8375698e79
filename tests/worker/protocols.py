"""Every protocol that the sandbox speaks, as a channel of the catalog that leads there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.models import Channel, ChannelModel, MediaModel, Plan
from sandbox.server import Sandbox
from tests.rows import IMAGE_PARAMS, make_channel, make_model, make_route

FILM = {"duration": 4, "resolution": "720p", "aspect_ratio": "16:9"}


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One protocol, reached in one way. `is_job`: it answers with a job; `has_links`: results are fetched by address;
    `finds`: a lost answer is found again by our reference; `reports`: it tells the length of a film."""

    name: str
    adapter: str
    path: str
    modality: str
    upstream_model: str
    is_job: bool
    has_links: bool = True
    finds: bool = False
    reports: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def install(self, plan: Plan, sandbox: Sandbox) -> MediaModel:
        """The model, the channel and the route: 0.04 USD a picture, 0.10 USD a second."""
        options = {**self.options, "poll_seconds": 0.2} if self.is_job else dict(self.options)
        channel: Channel = make_channel(self.name, self.adapter, sandbox.url + self.path, options=options)
        prices = {"1K": "0.04"} if self.modality == "image" else {"*": "0.1"}
        params = IMAGE_PARAMS if self.modality == "image" else {}
        model = make_model(f"{self.name}-model", self.modality, plan=plan, prices=prices, params=params)
        make_route(plan, model, channel, upstream_model=self.upstream_model)
        ChannelModel.objects.filter(channel=channel).update(capabilities=self.capabilities)
        return model

    def body(self, prompt: str, **params: Any) -> dict[str, Any]:
        """A submission: one picture, or a film of 4 seconds."""
        usual = {} if self.modality == "image" else FILM
        given = {"prompt": prompt, **usual, **self.params, **params}
        present = {name: value for name, value in given.items() if value is not None}
        return {"model": f"{self.name}-model", "modality": self.modality, "params": present}


def image(name: str, adapter: str, path: str, model: str, *, is_job: bool = False, **more: Any) -> Lane:
    return Lane(name=name, adapter=adapter, path=path, modality="image", upstream_model=model, is_job=is_job, **more)


def video(name: str, adapter: str, path: str, model: str, **more: Any) -> Lane:
    return Lane(name=name, adapter=adapter, path=path, modality="video", upstream_model=model, is_job=True, **more)


def template(name: str) -> dict[str, Any]:
    """A shipped template for a model whose sizes the catalog knows."""
    return {"adapter": "http_template", "options": {"template": name}}


SQUARE = {"size_table": {"1K": {"1:1": "1024x1024"}}}
LANES = (
    image("openai-images", "openai_images", "/openai/v1", "gpt-image-2", has_links=False),
    image("xai", "openai_images", "/xai/v1", "grok-2-image", has_links=False, options={"dialect": "xai"}),
    image("gemini", "gemini_generate_content", "/gemini", "gemini-3-image", has_links=False),
    image("ark-images", "ark_images", "/ark/api/v3", "seedream-4"),
    image("openrouter-images", "openrouter_images", "/openrouter/api/v1", "some/image-model", has_links=False),
    image("dashscope-image", "dashscope_image", "/dashscope/api/v1", "qwen-image-3"),
    image(
        "dashscope-image-jobs",
        "dashscope_image",
        "/dashscope/api/v1",
        "wan2.7-image",
        is_job=True,
        options={"mode": "async"},
    ),
    image("fal-image", path="/fal", model="fal-ai/flux", is_job=True, capabilities=SQUARE, **template("fal_image")),
    image(
        "replicate-image",
        path="/replicate/v1",
        model="owner/image-model",
        is_job=True,
        capabilities=SQUARE,
        **template("replicate_image"),
    ),
    video("openai-videos", "openai_videos", "/openai/v1", "sora-2", reports=True),
    video("ark", "ark_content_tasks", "/ark/api/v3", "seedance-2", reports=True),
    video(
        "minimax",
        "ark_content_tasks",
        "/minimax",
        "MiniMax-H3",
        options={"dialect": "minimax_v2"},
        params={"resolution": "768p"},
        reports=True,
    ),
    video("dashscope-video", "dashscope_video", "/dashscope/api/v1", "wan2.7-t2v", reports=True),
    video("kling", "kling_tasks", "/kling", "kling-3.0", finds=True, reports=True),
    video("kling-v1", "kling_tasks", "/kling", "kling-v2-6", options={"api": "v1"}, finds=True, reports=True),
    video("openrouter-videos", "openrouter_videos", "/openrouter/api/v1", "some/video-model"),
    video("runway", "runway", "/runway", "gen4.5"),
    video("runway-router", "runway", "/runway", "a-config", options={"api": "router"}),
    video("fal-video", path="/fal", model="fal-ai/video", reports=True, **template("fal_video")),
    video("replicate-video", path="/replicate/v1", model="owner/video-model", **template("replicate_video")),
)
