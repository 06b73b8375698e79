"""How the views' answers become bytes: as JSON whose amounts of money are plain numbers."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from common.plain_json import PlainEncoder


class PlainJSONRenderer(JSONRenderer):
    """DRF's, but for the encoder."""

    encoder_class = PlainEncoder


class Negotiation(DefaultContentNegotiation):
    """DRF's; what almost every client asks for needs none."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first, *_ = renderers
        if request.META.get("HTTP_ACCEPT", "*/*") in ("*/*", first.media_type):
            return first, first.media_type
        found: tuple[BaseRenderer, str] = super().select_renderer(request, renderers, format_suffix)
        return found
