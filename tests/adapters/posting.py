"""One paid call against an answer that is made up at the provider's border."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import responses

from adapters.base import Adapter, Connection, UpstreamError, UpstreamRequest
from tests.adapters.making import says_nothing_secret


@dataclass
class Posted:
    """What went out, read while it was sent, and what the adapter made of the answer."""

    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    outcome: Any = None


def posted(
    adapter: Adapter, upstream: UpstreamRequest, connection: Connection, *, status: int = 200, answer: Any = None
) -> Posted:
    """`answer` is JSON, or the text of a body. The call goes out once; no error quotes a credential."""
    seen = Posted()

    def reply(request: Any) -> tuple[int, dict[str, str], str]:
        body = request.body if isinstance(request.body, bytes) else b"".join(request.body)
        seen.headers, seen.body = request.headers, json.loads(body)
        return status, {}, answer if isinstance(answer, str) else json.dumps(answer)

    with responses.RequestsMock() as provider:
        provider.add_callback("POST", connection.base_url + upstream.path, callback=reply)
        seen.outcome = _outcome(adapter, upstream, connection)
        assert len(provider.calls) == 1
    if isinstance(seen.outcome, UpstreamError):
        assert says_nothing_secret(seen.outcome)
    return seen


def _outcome(adapter: Adapter, upstream: UpstreamRequest, connection: Connection) -> Any:
    try:
        return adapter.submit(upstream, connection)
    except UpstreamError as error:
        return error
