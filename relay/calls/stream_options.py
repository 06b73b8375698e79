"""Channels that take no `stream_options`: learned from their refusals, and kept for an hour for all processes.

One is remembered only where the same call without that field was accepted, and where the field held nothing but what
the relay itself asks for: no client can make a channel lose its usage for others.
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
    """Whether a stream may be had by leaving them out."""
    return asked.is_stream and isinstance(error, RefusedByUpstream) and error.names_stream_options


async def remember(candidate: Candidate, document: Mapping[str, Any]) -> None:
    """The channel has accepted a call of this body without them, which it had refused with them. Raises nothing."""
    if set(mapping(document.get("stream_options"))) <= OWN:
        try:
            await threads.call(relay_channels.refuses_stream_options, candidate)
        except Exception:
            swallowed.note("relay.calls.stream_options")
