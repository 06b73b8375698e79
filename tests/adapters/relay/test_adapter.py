"""The adapters of groups' channels: they probe a credential in their dialect, and run no task."""

from collections.abc import Mapping
from typing import Any

import pytest
import responses

from adapters import registry
from adapters.base import Adapter, ErrorKind, Target, TaskRequest, UpstreamError
from tests.adapters.making import connection_to

HOST = "https://llm.example"
GOOGLE_KEY = {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}
# protocol, base URL, the free request, the headers that authenticate, and how a bad key is told
RELAYS: list[tuple[str, str, str, Mapping[str, str], int, dict[str, Any]]] = [
    ("openai_relay", f"{HOST}/v1", "/models", {"Authorization": "Bearer key-of-the-channel"}, 401, {}),
    (
        "anthropic_relay",
        HOST,
        "/v1/models?limit=1",
        {"x-api-key": "key-of-the-channel", "anthropic-version": "2023-06-01"},
        401,
        {"type": "authentication_error"},
    ),
    ("gemini_relay", HOST, "/v1beta/models?pageSize=1", {"x-goog-api-key": "key-of-the-channel"}, 400, GOOGLE_KEY),
]


def relay(protocol: str) -> Adapter:
    found = registry.get(protocol)
    assert found is not None
    return found


@pytest.mark.parametrize(("protocol", "base_url", "path", "headers", "status", "bad_key"), RELAYS)
def test_a_probe_lists_the_models_with_the_dialects_own_key(
    protocol: str, base_url: str, path: str, headers: Mapping[str, str], status: int, bad_key: dict[str, Any]
) -> None:
    connection = connection_to(base_url, credentials={"api_key": "key-of-the-channel"})
    matched = [responses.matchers.header_matcher(headers)]
    with responses.RequestsMock() as provider:
        provider.get(base_url + path, json={}, match=matched)
        relay(protocol).probe(connection)
    for answer, told, kind in (
        (status, bad_key, ErrorKind.AUTH),
        (429, {}, ErrorKind.RATE_LIMITED),
        (500, {}, ErrorKind.TRANSIENT),
    ):
        with responses.RequestsMock() as provider:
            provider.get(base_url + path, status=answer, json={"error": told}, match=matched)
            with pytest.raises(UpstreamError) as caught:
                relay(protocol).probe(connection)
        assert caught.value.kind is kind, (answer, told)


@pytest.mark.parametrize("protocol", [relay[0] for relay in RELAYS])
def test_no_task_runs_on_it(protocol: str) -> None:
    adapter = relay(protocol)
    target = Target(adapter=protocol, base_url=HOST, upstream_model="gpt-5.2")
    request = TaskRequest(modality="image", prompt="a fox")
    assert adapter.modalities == frozenset()
    assert [problem.field for problem in adapter.check(request, target)] == ["modality"]
    for deed in (
        lambda: adapter.build(request, target),
        lambda: adapter.submit(None, connection_to(HOST)),  # type: ignore[arg-type]
        lambda: adapter.poll([{"id": "1"}], connection_to(HOST)),
        lambda: adapter.attach("1", target),
    ):
        with pytest.raises((NotImplementedError, ValueError), match="runs no tasks"):
            deed()
