"""The adapters that are registered, by protocol name: ours, then those of installed packages."""

from adapters.ark.images import ArkImages
from adapters.ark.videos import ArkContentTasks
from adapters.base import Adapter
from adapters.dashscope.images import DashScopeImage
from adapters.dashscope.videos import DashScopeVideo
from adapters.gemini.images import GeminiGenerateContent
from adapters.kling.videos import KlingTasks
from adapters.openai.images import OpenAIImages
from adapters.openai.videos import OpenAIVideos
from adapters.openrouter.images import OpenRouterImages
from adapters.openrouter.videos import OpenRouterVideos
from adapters.plugins import load
from adapters.relay.adapter import AnthropicRelay, GeminiRelay, OpenAIRelay
from adapters.runway.videos import Runway
from adapters.template.adapter import HttpTemplate

ADAPTERS: dict[str, Adapter] = {
    adapter.protocol: adapter
    for adapter in (
        OpenAIImages(),
        ArkContentTasks(),
        ArkImages(),
        GeminiGenerateContent(),
        DashScopeImage(),
        OpenRouterImages(),
        Runway(),
        KlingTasks(),
        OpenAIVideos(),
        OpenRouterVideos(),
        HttpTemplate(),
        DashScopeVideo(),
        OpenAIRelay(),
        AnthropicRelay(),
        GeminiRelay(),
    )
}
INSTALLED, SKIPPED = load(ADAPTERS)
"""Of other packages: the adapters, and why the others were skipped, by the name of the entry point."""
ADAPTERS.update(INSTALLED)


def get(protocol: str) -> Adapter | None:
    """The adapter of a protocol, or None where none is registered."""
    return ADAPTERS.get(protocol)


def runs(modality: str) -> bool:
    """Whether at least one adapter serves this modality."""
    return any(modality in adapter.modalities for adapter in ADAPTERS.values())
