"""Whether a target can express a request: what its adapter does not name is refused here, then the adapter is asked.

So a field that `TaskRequest` gets tomorrow is refused by every adapter that was written before it, plug-ins included.
"""

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

from adapters.base import Adapter, Target, TaskRequest, Unsupported

# The fields that `TaskRequest` had when adapters began to declare theirs. Never add one: older plug-ins drop it.
UNDECLARED = frozenset(
    {"prompt", "n", "image_size", "aspect_ratio", "images", "extra_body", "duration", "resolution", "generate_audio"}
    | {"inputs", "provider_options", "output_format"}
)


def check(adapter: Adapter, request: TaskRequest, target: Target) -> list[Unsupported]:
    """Why this target cannot run the request; empty if it can."""
    return [*_unexpressed(adapter, request), *adapter.check(request, target)]


def _unexpressed(adapter: Adapter, request: TaskRequest) -> Iterator[Unsupported]:
    expressed = {"modality", *getattr(adapter, "expresses", {}).get(request.modality, UNDECLARED)}
    for field in fields(request):
        if field.name not in expressed and getattr(request, field.name) != _empty(field):
            yield Unsupported(field=f"params.{field.name}", reason="cannot be expressed here")


def _empty(field: Field[Any]) -> Any:
    """What a request has that does not ask for it; MISSING, which nothing equals, where each must say it."""
    return field.default if field.default_factory is MISSING else field.default_factory()
