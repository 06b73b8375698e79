"""The adapters that are registered, by protocol name: ours, then those of installed packages."""

from adapters.ark_content_tasks import ArkContentTasks
from adapters.ark_images import ArkImages
from adapters.base import Adapter
from adapters.dashscope_image import DashScopeImage
from adapters.dashscope_video import DashScopeVideo
from adapters.gemini_generate_content import GeminiGenerateContent
from adapters.http_template import HttpTemplate
from adapters.kling_tasks import KlingTasks
from adapters.openai_images import OpenAIImages
from adapters.openai_videos import OpenAIVideos
from adapters.openrouter_images import OpenRouterImages
from adapters.openrouter_videos import OpenRouterVideos
from adapters.plugins import load
from adapters.runway import Runway

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
    )
}
INSTALLED, SKIPPED = load(ADAPTERS)
"""Of other packages: the adapters, and why the others were skipped, by the name of the entry point."""
ADAPTERS.update(INSTALLED)


def get(protocol: str) -> Adapter | None:
    """The adapter of a protocol, or None where none is registered."""
    return ADAPTERS.get(protocol)


def modalities() -> frozenset[str]:
    """The modalities that at least one adapter serves."""
    return frozenset(modality for adapter in ADAPTERS.values() for modality in adapter.modalities)
