"""The adapters that are registered, by protocol name."""

from adapters.ark_content_tasks import ArkContentTasks
from adapters.base import Adapter
from adapters.openai_images import OpenAIImages

ADAPTERS: dict[str, Adapter] = {adapter.protocol: adapter for adapter in (OpenAIImages(), ArkContentTasks())}


def get(protocol: str) -> Adapter | None:
    """The adapter of a protocol, or None where none is registered."""
    return ADAPTERS.get(protocol)


def modalities() -> frozenset[str]:
    """The modalities that at least one adapter serves."""
    return frozenset(modality for adapter in ADAPTERS.values() for modality in adapter.modalities)
