"""An adapter that does no I/O: what it takes and buys is said by the channel model's capabilities."""

from typing import ClassVar

from adapters.base import (
    Accepted,
    Billed,
    Connection,
    Done,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamRequest,
)
from adapters.kit.shapes import Synchronous


class StubImages(Synchronous):
    """Capabilities: `max_n`, `refuses` (fields), `tier` (what it bills instead of the asked one). Like an older
    package's adapter it declares no field of them."""

    protocol: ClassVar[str] = "stub_images"
    modalities: ClassVar[frozenset[str]] = frozenset({"image"})
    option_fields = capability_fields = None  # type: ignore[assignment]

    def validate(self, target: Target) -> list[str]:
        known = {"max_n", "refuses", "tier"}
        return [f"capabilities.{name}: unknown" for name in target.capabilities if name not in known] + [
            f"options.{name}: unknown" for name in target.options if name != "dialect"
        ]

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        refused = [Unsupported(field=field, reason="not here") for field in target.capabilities.get("refuses", [])]
        if request.n > target.capabilities.get("max_n", 10):
            refused.append(Unsupported(field="params.n", reason="too many"))
        return refused

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        tier = target.capabilities.get("tier", request.image_size or request.resolution)
        return UpstreamRequest(path="/", body={}, billed=Billed(count=request.n, tier=tier))

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        raise NotImplementedError


class StubFilms(StubImages):
    protocol = "stub_films"
    modalities = frozenset({"video"})
