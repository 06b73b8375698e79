"""A synchronous image call in progress, for `front/image_calls.py`, which waits for its task.

Whose client leaves wants no picture any more: a draft that waits for its group is taken back, and a task that is still
queued is canceled, unless another call of this process waits for it. What a worker has begun goes on and is charged.
All of it runs on the event loop.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from common.concurrency import threads
from tasks import cancellation
from tasks.intake.drafts import Draft
from tasks.intake.submission import Created, Outcome
from tasks_api.openai.image_requests import Format

_waiting: Counter[str] = Counter()  # the calls of this process, by task
_left: set[str] = set()  # the tasks among them whose own call has left


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedTask:
    """What a call waits for, and how it wants to be told; `headers` are those of its answer. A replay waits for a task
    that another call has made, and which may have ended."""

    task_id: str
    key_id: int
    account_id: int
    response_format: Format | None
    is_replay: bool
    has_ended: bool
    headers: Mapping[str, str] = field(default_factory=dict)


class ImageCall:
    """`task` is None until its view has a task to wait for; `task_id` is known from the draft on."""

    def __init__(self) -> None:
        self.task: AwaitedTask | None = None
        self.task_id: str | None = None
        self._loop = asyncio.get_running_loop()
        self._submitted: tuple[Draft, Future[Outcome]] | None = None
        self._has_left = False
        self._is_counted = False

    def follow(self, draft: Draft, promise: "Future[Outcome]") -> None:
        """The view's draft is in line."""
        self._submitted, self.task_id = (draft, promise), draft.task_id
        if self._has_left:
            self._take_back(draft, promise)

    def expect(self, task: AwaitedTask) -> None:
        """The view's task is there."""
        self.task, self.task_id = task, task.task_id

    def begin(self, task: AwaitedTask) -> None:
        """It waits now. Nothing is kept of the draft, which may hold megabytes."""
        self._submitted = None
        _waiting[task.task_id] += 1
        self._is_counted = True

    def over(self) -> None:
        """It waits no more, for whatever reason."""
        if self.task is None or not self._is_counted:
            return
        self._is_counted = False
        task_id = self.task.task_id
        _waiting[task_id] -= 1
        if not _waiting[task_id]:
            del _waiting[task_id]
            _left.discard(task_id)

    def leave(self) -> None:
        """The client is gone, whatever has come of its call by now."""
        self._has_left = True
        is_wanted = self.task is None or (self.task.is_replay and self.task.task_id not in _left)
        self.over()
        if self._submitted:
            self._take_back(*self._submitted)
        elif self.task and not is_wanted:
            self._withdraw(self.task.key_id, self.task.account_id, self.task.task_id)

    def _take_back(self, draft: Draft, promise: "Future[Outcome]") -> None:
        if not promise.cancel():
            promise.add_done_callback(lambda _: self._on_loop(self._drop, draft, promise))

    def _drop(self, draft: Draft, promise: "Future[Outcome]") -> None:
        """Its group had begun, or has been written: the task may be there."""
        if not promise.exception() and isinstance(promise.result(), Created):
            self._withdraw(draft.caller.key_id, draft.caller.account_id, draft.task_id)

    def _withdraw(self, key_id: int, account_id: int, task_id: str) -> None:
        if task_id in _waiting:
            _left.add(task_id)
            return
        share = threads.share.set(threads.of_account(account_id))
        try:
            threads.executor.submit(threads.returning_connection, cancellation.withdraw, key_id, task_id)
        finally:
            threads.share.reset(share)

    def _on_loop(self, function: object, *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed, the process ends: the task goes on
            self._loop.call_soon_threadsafe(function, *arguments)  # type: ignore[arg-type]
