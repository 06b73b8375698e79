"""Step 12: what paid calls made is copied to our storage; until its task ends the call's row keeps it as its result."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import Any

from adapters.base import Adapter, Connection, Done, ErrorKind, Output, Reported, UpstreamError
from common import backoff, documents, swallowed
from common.concurrency.turnstile import Turnstile
from common.database.database_retry import release_connection
from common.documents import Unreadable
from common.errors import StorageUnavailable
from tasks import failures
from tasks.assets import assets
from tasks.assets.assets import NewAsset, UnusableOutput
from tasks.due_calls import DueCall
from tasks.failures import Failure

logger = logging.getLogger(__name__)
# Before the janitor, so that a result which cannot be stored ends as what it met.
GIVE_UP_SECONDS = 1.0
LEAST_SECONDS = 0.1

# A thousand answers may come at once. What is at hand is stored in a moment, unless all are at it together; enough of
# them are, so that the flushes of a slow disk are shared.
at_hand = Turnstile(32, seconds=0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What one paid call made: outputs still to be copied, or files of ours where they were stored for its siblings,
    and then how many more there were (`dropped`)."""

    call_id: int
    done: Done
    stored: tuple[NewAsset, ...] = ()
    dropped: int = 0

    @property
    def kind(self) -> str:
        return self.done.outputs[0].kind if self.done.outputs else self.stored[0].kind

    @property
    def size(self) -> int:
        return len(self.done.outputs) + len(self.stored) + self.dropped

    def wanted(self, most: int | None) -> tuple[Output, ...]:
        """The outputs to copy: the first of its kind, at most what was bought, and one of every other kind, such as the
        last frame of a film. None: a task of an older version, of which nobody knows what was bought."""
        room = Counter({output.kind: 1 for output in self.done.outputs})
        if most is None or not self.done.outputs:
            return self.done.outputs
        room[self.kind] = most
        kept = []
        for output in self.done.outputs:
            if room[output.kind] > 0:
                kept.append(output)
            room[output.kind] -= 1
        return tuple(kept)

    @property
    def made(self) -> int:
        """How many files of its kind: a last frame beside a film is none."""
        kinds = [*(output.kind for output in self.done.outputs), *(asset.kind for asset in self.stored)]
        return kinds.count(self.kind) + self.dropped


def result_of(call: DueCall, done: Done) -> CallResult:
    """The result of a call whose poll says that it is done."""
    return CallResult(call_id=call.id, done=done) if call.result is None else read(call.id, call.result)


def read(call_id: int, row: Mapping[str, Any]) -> CallResult:
    """The inverse of `of_urls` and `of_files`, also of another version's. Raises Unreadable."""
    found = documents.whole(row, "result")
    if not {"outputs", "assets"} & found.keys():
        raise Unreadable("result: outputs is missing")
    files = {name: documents.listed(found.get(name, []), f"result.{name}") for name in ("outputs", "assets")}
    outputs = tuple(documents.read(Output, each) for each in files["outputs"])
    reported = documents.read(Reported, documents.shown(found.get("reported")))
    done = documents.read(Done, found, outputs=outputs, reported=reported)
    stored = tuple(documents.read(NewAsset, each) for each in files["assets"])
    dropped = found.get("dropped", 0)
    if not documents.fits(dropped, int):
        raise Unreadable("result: dropped is of a wrong type")
    return CallResult(call_id=call_id, done=done, stored=stored, dropped=dropped)


def of_urls(done: Done) -> dict[str, Any]:
    outputs = [{"index": output.index, "kind": output.kind, "url": output.url} for output in done.outputs]
    return {"outputs": outputs, **_told(done)}


def of_files(done: Done, stored: tuple[NewAsset, ...], dropped: int = 0) -> dict[str, Any]:
    return {"assets": [asdict(asset) for asset in stored], "dropped": dropped, **_told(done)}


def _told(done: Done) -> dict[str, Any]:
    reported = {name: value for name, value in asdict(done.reported).items() if value is not None}
    return {"duration": done.duration, **({"reported": reported} if reported else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What is stored, by call, and why the rest is not; `is_ours` when our storage refused, else a file could not be
    had or used. `may_come`: a file that was bought may be had later. `fresh` was stored just now; `dropped` are the
    files of each call that nobody bought."""

    by_call: Mapping[int, tuple[NewAsset, ...]]
    dropped: Mapping[int, int] = field(default_factory=dict)
    fresh: tuple[NewAsset, ...] = ()
    fault: str = ""
    is_ours: bool = False
    may_come: bool = False

    @property
    def stored(self) -> tuple[NewAsset, ...]:
        return tuple(asset for assets_ in self.by_call.values() for asset in assets_)

    @property
    def failure(self) -> Failure:
        return failures.STORAGE_UNAVAILABLE if self.is_ours else failures.NO_USABLE_RESULT


def make(
    results: Sequence[CallResult],
    adapter: Adapter,
    connection: Connection,
    *,
    most: int | None = None,
    is_again: bool = False,
) -> Copied:
    """Stream each output into storage, of each call at most what it bought, all within the connection's time. A file at
    hand is stored as it is, but not again. To be called without a connection to the database."""
    ends_at = time.monotonic() + connection.total_timeout
    by_call = {result.call_id: result.stored for result in results}
    fresh: list[NewAsset] = []
    fault, may_come = "", False
    kinds = {result.call_id: result.kind for result in results}
    wanted = {result.call_id: result.wanted(most) for result in results}
    dropped = {each.call_id: each.dropped + len(each.done.outputs) - len(wanted[each.call_id]) for each in results}
    for call_id, output in [(call_id, output) for call_id, outputs in wanted.items() for output in outputs]:
        try:
            left = replace(connection, total_timeout=max(LEAST_SECONDS, ends_at - time.monotonic()))
            turn = at_hand.passage(patience=left.total_timeout / 2) if output.path else nullcontext()
            with turn, adapter.open_output(output, left) as chunks:
                fresh.append(assets.store((each for each in chunks) if is_again else chunks, kind=output.kind))
            by_call[call_id] += (fresh[-1],)
        except StorageUnavailable as error:
            return Copied(by_call=by_call, dropped=dropped, fresh=tuple(fresh), fault=str(error), is_ours=True)
        except (UnusableOutput, UpstreamError) as error:
            fault = str(error)
            may_come |= _may_pass(error) and output.kind == kinds[call_id]
        except Exception as error:
            swallowed.note("worker.copy")
            fault = repr(error)[:500]
            if output.path and isinstance(error, OSError):  # a file of ours, which may be there again with its disk
                return Copied(by_call=by_call, dropped=dropped, fresh=tuple(fresh), fault=fault, is_ours=True)
    return Copied(by_call=by_call, dropped=dropped, fresh=tuple(fresh), fault=fault, may_come=may_come)


def _may_pass(error: Exception) -> bool:
    """Whether a file may be had later: it is not there yet, or its store is busy or away."""
    return isinstance(error, UpstreamError) and error.kind is not ErrorKind.EMPTY_RESULT


def tries(
    result: CallResult,
    adapter: Adapter,
    connection: Connection,
    *,
    ends_at: Callable[[], float],
    most: int | None = None,
) -> Iterator[tuple[Copied, bool]]:
    """Copy until our storage takes the outputs or time is up; each try, and whether it is the last. `ends_at` gives the
    end by time.monotonic; it is asked after each try that met a fault."""
    for number in count():
        copied = make([result], adapter, connection, most=most, is_again=number > 0)
        seconds_left = ends_at() - GIVE_UP_SECONDS - time.monotonic() if copied.fault else 0.0
        is_last = not copied.is_ours or seconds_left <= 0
        yield copied, is_last
        if is_last:
            return
        release_connection()
        time.sleep(min(backoff.seconds(number), seconds_left))


@contextmanager
def temporary(done: Done) -> Iterator[None]:
    """Delete the files in which a provider's bytes came."""
    try:
        yield
    finally:
        for output in done.outputs:
            if output.path is not None:
                with suppress(OSError):
                    output.path.unlink()
