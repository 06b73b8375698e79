"""Probe a channel with one real call: the cheapest that a channel model allows, sent like a purchase, without a task or
a customer. The last probe of each channel is stored with its request and answer.

The row is `sent` before the request goes out, so a probe with a lost answer is known and never repeated automatically.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from adapters import registry
from adapters.base import (
    ENDS_JOB,
    Accepted,
    Adapter,
    Connection,
    Done,
    NothingSent,
    Output,
    Pending,
    Target,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit.written_files import is_data_url
from catalog import connections
from catalog.models import Channel, ChannelModel, ChannelTest
from common import documents, redaction, swallowed
from common.database.database_retry import release_connection
from desk.channel_page import smallest
from desk.channel_page.smallest import PROMPT, Smallest, Untestable
from storage import media_types

LONGEST_SECONDS = 180.0
LOOK_SECONDS = 20.0
HEAD_BYTES = 64
State = ChannelTest.State


class NotTested(Exception):
    """Raised when nothing was sent; the message is a sentence for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A channel model and the request that a test of it would buy."""

    offer: ChannelModel
    smallest: Smallest


def planned(offer: ChannelModel, prompt: str = PROMPT) -> PlannedTest:
    """Plan the cheapest test of a channel model. Raises Untestable."""
    return PlannedTest(offer=offer, smallest=smallest.find(offer, prompt))


def offers(channel: Channel) -> list[ChannelModel]:
    """List the channel's models, enabled ones first."""
    rows = channel.channel_models.select_related("channel", "model").order_by("-enabled", "model__name")
    return list(rows)


def cheapest(channel: Channel) -> PlannedTest:
    """Plan the test with the lowest known own cost, else the first possible one. Raises Untestable."""
    found, why = list[PlannedTest](), "it offers no model yet: add one"
    for offer in offers(channel):
        try:
            found.append(planned(offer))
        except Untestable as refusal:
            why = f"{offer.model.name}: {refusal}"
    if not found:
        raise Untestable(why)
    costs = ((each.smallest.cost_micros is None, each.smallest.cost_micros or 0) for each in found)
    return min(zip(costs, range(len(found)), found, strict=True))[2]


def number_of(channel: Channel) -> int:
    """Count the channel's tests: a form that was submitted already carries an older number."""
    return ChannelTest.objects.filter(channel=channel).values_list("number", flat=True).first() or 0


def run(test: PlannedTest, *, by: str, number: int) -> ChannelTest:
    """Send the test once and store the answer; no database connection is held meanwhile. Raises NotTested."""
    offer, adapter = test.offer, _adapter(test.offer.channel)
    target = smallest.build_target(offer)
    row = _begun(test, target, by=by, number=number)
    seconds = min(adapter.submit_seconds(target) or LONGEST_SECONDS, LONGEST_SECONDS)
    row.credential_id, connection = connections.to(
        offer.channel_id, target, total_timeout=seconds, reference=f"test-{offer.channel_id}-{row.number}"
    )
    release_connection()
    _heard(row, adapter, connection, partial(adapter.submit, test.smallest.upstream, connection))
    return row


def poll(channel: Channel, *, number: int) -> ChannelTest:
    """Poll the job of the last test once. Raises NotTested."""
    row = ChannelTest.objects.filter(channel=channel, number=number, state=State.ACCEPTED).first()
    if row is None:
        raise NotTested("No job is left to check: see the last test on the channel's page.")
    adapter, target = _adapter(channel), documents.read(Target, row.target)
    _, connection = connections.to(
        channel.pk, target, total_timeout=LOOK_SECONDS, credential_id=row.credential_id, follows=True
    )
    release_connection()
    _heard(row, adapter, connection, partial(_polled, adapter, row.handle or {}, connection))
    return row


def _adapter(channel: Channel) -> Adapter:
    adapter = registry.get(channel.adapter)
    if adapter is None:
        raise NotTested(f"Adapter {channel.adapter} is not registered.")
    return adapter


def _begun(test: PlannedTest, target: Target, *, by: str, number: int) -> ChannelTest:
    """Commit the row of a test before it is sent. Raises NotTested if it was sent already or another is in progress."""
    channel, now = test.offer.channel, timezone.now()
    under_way = Q(state=State.SENT, started_at__gt=now - timedelta(seconds=LONGEST_SECONDS))
    with transaction.atomic():
        ChannelTest.objects.get_or_create(channel=channel)
        rows = ChannelTest.objects.filter(channel=channel, number=number).exclude(under_way)
        if not rows.update(
            number=F("number") + 1,
            state=State.SENT,
            model_name=test.offer.model.name,
            what=test.smallest.words,
            by=by,
            target=asdict(target),
            request=_shown_request(target, test.smallest.upstream),
            answer={},
            handle=None,
            cost_micros=test.smallest.cost_micros,
            started_at=now,
            answered_at=None,
        ):
            raise NotTested("This test was already sent, or another one is in progress: see the channel's page.")
        return ChannelTest.objects.get(channel=channel)


def _heard(row: ChannelTest, adapter: Adapter, connection: Connection, ask: Any) -> None:
    """Store the outcome of a call. A failed poll leaves the job accepted."""
    is_poll = row.state == State.ACCEPTED
    try:
        row.state, row.answer = _read(row, ask(), adapter, connection)
    except UpstreamError as error:
        row.state, row.answer = _state_after(error, is_poll=is_poll), _told(error)
    except NothingSent as fault:
        row.state, row.answer = State.UNSENT, {"message": redaction.clean(str(fault))}
    except Exception:
        swallowed.note("desk.channel_probe")
        row.state, row.answer = (
            State.ACCEPTED if is_poll else State.UNKNOWN,
            {"message": "It failed unexpectedly: see the log."},
        )
    row.answered_at = timezone.now()
    # The number excludes a test that was given up as lost and replaced by a newer one.
    noted = {name: getattr(row, name) for name in ("state", "answer", "handle", "credential_id", "answered_at")}
    ChannelTest.objects.filter(pk=row.pk, number=row.number).update(**noted)


def _polled(adapter: Adapter, handle: Mapping[str, Any], connection: Connection) -> Pending | Done:
    (state,) = adapter.poll([handle], connection)
    if isinstance(state, UpstreamError):
        raise state
    return state


def _state_after(error: UpstreamError, *, is_poll: bool) -> str:
    if is_poll:
        return State.REFUSED if error.kind in ENDS_JOB else State.ACCEPTED
    return State.UNKNOWN if error.maybe_accepted else State.REFUSED


def _read(row: ChannelTest, answer: Any, adapter: Adapter, connection: Connection) -> tuple[str, dict[str, Any]]:
    match answer:
        case Accepted():
            row.handle = dict(answer.handle)
            return State.ACCEPTED, {"handle": redaction.cleaned(row.handle)}
        case Done():
            files = [_file(output, adapter, connection) for output in answer.outputs]
            reported = {name: value for name, value in asdict(answer.reported).items() if value is not None}
            return State.ANSWERED, {"files": files, "duration": answer.duration, "reported": reported}
        case _:
            progress = answer.progress
            return State.ACCEPTED, {"handle": redaction.cleaned(row.handle), "progress": progress}


def _file(output: Output, adapter: Adapter, connection: Connection) -> dict[str, Any]:
    """Describe a result by its first bytes, fetched as a delivery would fetch it; nothing is stored."""
    source = redaction.clean(output.url) if output.url and not is_data_url(output.url) else "in the answer"
    try:
        with adapter.open_output(output, connection) as chunks:
            head = b""
            while len(head) < HEAD_BYTES and (chunk := next(chunks, b"")):
                head += chunk
        return {"type": media_types.sniff(head[:HEAD_BYTES]).content_type, "source": source}
    except UpstreamError as error:
        return {"type": "", "source": source, "problem": _told(error)}
    finally:
        if output.path:
            output.path.unlink(missing_ok=True)


def _told(error: UpstreamError) -> dict[str, Any]:
    found = {
        "kind": error.kind.value,
        "http_status": error.http_status,
        "code": error.code,
        "message": redaction.clean(error.message),
        "request_id": error.request_id,
        "retry_after": error.retry_after,
    }
    return {name: value for name, value in found.items() if value not in (None, "")}


def _shown_request(target: Target, upstream: UpstreamRequest) -> dict[str, Any]:
    """Describe the request without credentials."""
    return {
        "method": "POST",
        "url": redaction.clean(f"{target.base_url}{upstream.path}"),
        "encoding": upstream.encoding,
        "body": redaction.cleaned(dict(upstream.body)),
    }
