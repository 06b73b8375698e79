"""Which channels take no `stream_options`: learned from their refusals, and kept in this process for an hour.

One is remembered only where the same call without that field was accepted, and where the field held nothing but what
the relay itself asks for: no client can make a channel lose its usage for others.
"""

import time
from collections.abc import Mapping
from typing import Any

from adapters.base import UpstreamError
from catalog.relay_channels import Candidate
from relay.families.base import AskedCall
from relay.families.fields import mapping
from relay.families.refusals import RefusedByUpstream

REMEMBERED_SECONDS = 3600.0
MOST_REMEMBERED = 1_000
OWN = {"include_usage"}
_refused_until: dict[tuple[int, str], float] = {}


def are_taken(candidate: Candidate) -> bool:
    """Whether the channel may be sent `stream_options`."""
    return _refused_until.get(_key(candidate), 0.0) <= time.monotonic()


def were_refused(error: UpstreamError, asked: AskedCall) -> bool:
    """Whether a stream may be had by leaving them out."""
    return asked.is_stream and isinstance(error, RefusedByUpstream) and error.names_stream_options


def remember(candidate: Candidate, document: Mapping[str, Any]) -> None:
    """The channel has accepted a call of this body without them, which it had refused with them."""
    if set(mapping(document.get("stream_options"))) <= OWN:
        if len(_refused_until) >= MOST_REMEMBERED:
            _refused_until.clear()
        _refused_until[_key(candidate)] = time.monotonic() + REMEMBERED_SECONDS


def forget() -> None:
    """Nothing is known of any channel any more."""
    _refused_until.clear()


def _key(candidate: Candidate) -> tuple[int, str]:
    return candidate.link.channel.id, candidate.link.channel.base_url
