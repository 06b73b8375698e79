"""Tracks one relayed call, and opens and ends its row in the books exactly once.

Every call is ended by `end`: the first end counts, and cancellation cannot lose it (`relay/books.py`). The amounts
follow from how far the call has come (`relay/calls/ending.py`).
"""

import asyncio
import re
from collections.abc import Coroutine, Hashable
from dataclasses import dataclass
from typing import Any

from adapters.base import UpstreamError
from billing import relayed_calls
from billing.relayed_calls import CallEnding, NewCall, SeenUsage
from catalog import relay_channels
from catalog.relay_channels import Candidate
from common import logs, redaction, swallowed
from common.concurrency import threads
from common.errors import ApiError, UpstreamRefusal
from common.http.asgi import Headers
from common.token_usage import TokenUsage
from relay import books
from relay.calls import ending, times
from relay.calls.clients import RelayClient
from relay.calls.demands import Content, Demand
from relay.calls.ending import Finish, Progress
from relay.calls.in_flight import CHANNEL_PART, in_flight
from relay.families.base import Delivered, StreamReader

CALL_ID = "X-Call-Id"
OK, CLIENT_LEFT = 200, 499
LONGEST_REQUEST_ID = 64
_background: set["asyncio.Task[None]"] = set()


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One try at a candidate; `upstream_model` is the model's name there. `was_sent`: the upstream may have received
    the request and has not refused it."""

    candidate: Candidate
    upstream_model: str
    began: float
    was_sent: bool = False

    def sent(self) -> None:
        self.was_sent = True


class ClientLeft(Exception):
    """The client has left, so nothing more is bought for it."""


class CallRun:
    """A call from its reservation to its end, used by one task of the event loop."""

    def __init__(self, demand: Demand, content: Content, client: RelayClient) -> None:
        self.demand, self.content, self.client = demand, content, client
        self.ends_at = asyncio.get_running_loop().time() + times.ANSWER_SECONDS
        self.call_id = ""
        self.usage: TokenUsage | None = None
        self.delivered = Delivered()
        self.is_complete = False
        """The upstream's answer was read to its end."""
        self.has_failed = False
        """The answer itself reports a failure."""
        self.attempt: Attempt | None = None
        self.has_ended = False
        self.is_lost = False
        """A request failed that may have been accepted."""
        self._told: list[dict[str, Any]] = []
        self._is_noted = False
        self._holder: Hashable | None = None

    @property
    def was_sent(self) -> bool:
        """Tells whether an upstream may have accepted the call."""
        return self.attempt is not None and self.attempt.was_sent

    @property
    def finish(self) -> tuple[Finish, int]:
        """Finish and HTTP status of a call whose answer is complete."""
        status = CLIENT_LEFT if self.client.has_left else OK
        if self.has_failed:
            return Finish.CUT, status
        return (Finish.LEFT if self.client.has_left else Finish.DONE), status

    @property
    def headers(self) -> Headers:
        """Headers of every answer once the call is booked."""
        return ((CALL_ID.lower().encode(), self.call_id.encode()),) if self.call_id else ()

    def with_client_model(self, error: ApiError) -> ApiError:
        """Returns the error with the client's name for the model where it quotes the provider."""
        asked = self.demand.asked.model
        name = self.attempt.upstream_model if self.attempt else asked
        if name != asked and isinstance(error, UpstreamRefusal):
            error.message = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", lambda _: asked, error.message)
        return error

    async def open(self, channel_id: int) -> None:
        """Holds the money, committed on return; nothing for a free call. Raises InsufficientBalance."""
        if not self.demand.asked.is_free:
            call = self._new_call(channel_id)
            await books.reserve(call)
            self.call_id = call.call_id

    def _new_call(self, channel_id: int) -> NewCall:
        demand, caller = self.demand, self.demand.caller
        return NewCall(
            call_id=relayed_calls.new_call_id(),
            account_id=caller.account_id,
            key_id=caller.key_id,
            group_id=demand.group.id,
            process_id=books.process_id(),
            model=demand.asked.model,
            dialect=demand.family.name,
            is_stream=demand.asked.is_stream,
            channel_id=channel_id,
            estimated_micros=demand.reserved_micros,
            price=demand.tariff.document(),
            request_id=logs.request_id()[:LONGEST_REQUEST_ID],
        )

    def begin(self, candidate: Candidate) -> Attempt | None:
        """Starts another attempt; earlier ones were certainly not accepted. None if too many calls wait for its
        channel. Raises ClientLeft."""
        if self.client.has_left:
            raise ClientLeft
        self.close()
        model = candidate.link.upstream_model(self.demand.asked.model)
        self.attempt = Attempt(candidate=candidate, upstream_model=model, began=asyncio.get_running_loop().time())
        holder = ("channel", candidate.link.channel.id)
        if not in_flight.take(holder, CHANNEL_PART):
            return None
        self._holder = holder
        return self.attempt

    def close(self) -> None:
        """Frees the slot at the channel."""
        if self._holder is not None:
            in_flight.give_back(self._holder)
            self._holder = None

    async def record_failure(self, attempt: Attempt, error: UpstreamError) -> None:
        """Records a failed attempt, which counts against its channel. Raises nothing."""
        self._tell(attempt, kind=error.kind.value, http_status=error.http_status, message=_clean(error))
        attempt.was_sent = self.is_lost = attempt.was_sent and error.maybe_accepted
        try:
            await threads.call(relay_channels.refused, attempt.candidate, error)
        except Exception:
            swallowed.note("relay.calls.channel_refusal")

    def record_success(self, attempt: Attempt) -> None:
        """Records that the upstream answered properly."""
        self._tell(attempt, kind="answered")
        if relay_channels.is_marked(attempt.candidate):
            _in_background(self._note_success(attempt.candidate))

    async def _note_success(self, candidate: Candidate) -> None:
        try:
            await threads.call(relay_channels.succeeded, candidate)
        except Exception:
            swallowed.note("relay.calls.channel_success")

    def _tell(self, attempt: Attempt, **said: Any) -> None:
        seconds = round(asyncio.get_running_loop().time() - attempt.began, 3)
        channel = attempt.candidate.link.channel
        self._told.append({"channel_id": channel.id, "channel": channel.name, "seconds": seconds, **said})

    def record_progress(self, reader: StreamReader) -> None:
        """Takes over what a stream has reported. The first usage is saved for whichever process ends the call if this
        one dies."""
        self.usage, self.delivered, self.has_failed = reader.usage, reader.delivered, reader.has_failed
        if self.usage is not None and not self._is_noted and self.call_id and not reader.is_over:
            self._is_noted = True
            cost = min(self.demand.tariff.cost_micros(self.usage), self.demand.reserved_micros)
            _in_background(books.note(SeenUsage(call_id=self.call_id, usage=self.usage, actual_micros=cost)))

    async def end(self, finish: Finish, http_status: int) -> None:
        """Commits the end, also if the caller is canceled."""
        if self.has_ended:
            return
        self.has_ended = True
        if self.call_id:
            await books.end(self._ending(finish, http_status))

    def _ending(self, finish: Finish, http_status: int) -> CallEnding:
        demand = self.demand
        progress = Progress(
            was_sent=self.was_sent,
            is_complete=self.is_complete,
            was_held_up=not self.has_failed and self.client.waited_seconds >= times.HELD_UP_SECONDS,
            usage=self.usage,
            delivered=self.delivered,
        )
        settled = ending.settle(finish, progress, demand.asked, demand.tariff, reserved=demand.reserved_micros)
        return CallEnding(
            call_id=self.call_id,
            account_id=demand.caller.account_id,
            actual_micros=settled.actual_micros,
            usage=settled.usage,
            outcome=finish.value,
            is_estimated=settled.is_estimated,
            is_loss=settled.is_loss,
            flags=settled.flags,
            overrun_micros=settled.overrun_micros,
            channel_id=self.attempt.candidate.link.channel.id if self.attempt else None,
            attempts=self._told,
            http_status=http_status,
        )


def _in_background(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(work)
    _background.add(task)
    task.add_done_callback(_background.discard)


def _clean(error: UpstreamError) -> str:
    return redaction.clean(error.message)[:200]
