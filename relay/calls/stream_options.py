"""Remembers for an hour, across processes, which channels refuse `stream_options`.

A channel is remembered only if it accepted the same call without the field, and the field held nothing but what the
relay asks for: no client can cost others their usage reports.
"""

from collections.abc import Mapping
from typing import Any

from adapters.base import UpstreamError
from catalog import relay_channels
from catalog.relay_channels import Candidate
from common import swallowed
from common.concurrency import threads
from relay.families.base import AskedCall
from relay.families.fields import mapping
from relay.families.refusals import RefusedByUpstream

OWN = {"include_usage"}


def were_refused(error: UpstreamError, asked: AskedCall) -> bool:
    """Tells whether the stream may be had without them."""
    return asked.is_stream and isinstance(error, RefusedByUpstream) and error.names_stream_options


async def remember(candidate: Candidate, document: Mapping[str, Any]) -> None:
    """Saves that the channel refused this body with the field and accepted it without. Raises nothing."""
    if set(mapping(document.get("stream_options"))) <= OWN:
        try:
            await threads.call(relay_channels.refuses_stream_options, candidate)
        except Exception:
            swallowed.note("relay.calls.stream_options")
