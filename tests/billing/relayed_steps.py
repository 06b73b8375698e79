"""Steps with relayed calls that tests take without a front and a provider."""

from typing import Any

from billing import relayed_calls, web_processes
from billing.models import RelayedCall
from billing.relayed_calls import CallEnding, NewCall
from common.token_usage import TokenUsage
from tests.rows import IssuedKey

PROCESS = "p" * 32
USAGE = TokenUsage(input_tokens=100, cached_tokens=40, output_tokens=20, reasoning_tokens=5)


def process(process_id: str = PROCESS) -> str:
    """A web process that is alive."""
    web_processes.register(process_id)
    return process_id


def new_call(key: IssuedKey, estimated: int = 500, **fields: Any) -> NewCall:
    given = {
        "call_id": relayed_calls.new_call_id(),
        "account_id": key.account.pk,
        "key_id": key.id,
        "group_id": 1,
        "process_id": PROCESS,
        "model": "gpt-5",
        "dialect": "chat",
        "is_stream": True,
        "channel_id": None,
        "estimated_micros": estimated,
        "price": {"pattern": "gpt-*", "input": "1.25"},
        "request_id": "req_1",
    }
    return NewCall(**(given | fields))


def opened(key: IssuedKey, estimated: int = 500, **fields: Any) -> NewCall:
    """A call that is reserved, of a process that is alive."""
    call = new_call(key, estimated, **fields)
    process(call.process_id)
    assert relayed_calls.reserve([call]) == [None]
    return call


def ending(call: NewCall, actual: int | None = 150, **fields: Any) -> CallEnding:
    given: dict[str, Any] = {"usage": USAGE if actual is not None else None, "outcome": "completed"}
    return CallEnding(call_id=call.call_id, account_id=call.account_id, actual_micros=actual, **(given | fields))


def ended(key: IssuedKey, actual: int | None = 150, *, model: str = "gpt-5", **fields: Any) -> RelayedCall:
    """A call that was reserved and has ended; the fields are of its end."""
    call = opened(key, max(500, actual or 0), model=model)
    assert relayed_calls.end([ending(call, actual, **fields)]) == [True]
    return RelayedCall.objects.get(id=call.call_id)
