"""Jobs of the asynchronous protocols: their state follows from the clock, so thousands of open ones cost nothing."""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox import steering
from sandbox.films import Film
from sandbox.pictures import Picture
from sandbox.state import File, State
from sandbox.steering import CALL_FAULTS, LOSSES, POLL, SUBMIT, Script, Word
from sandbox.wire import Refusal, Request, Response

QUEUED_SHARE = 0.1
REFUSALS = ("moderated", "rate-limited", "status")
FATES = ("fail", "moderated-output", "partial")
ErrorFor = Callable[[Word], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sale:
    """Content of a valid submission. `media` makes the result's files, given whether it is partial. `detail` is the
    protocol's own; `lifetime` in seconds; `reference` is the caller's own name for the job, if the protocol has one."""

    kind: str
    prompt: str
    media: Callable[[bool], Sequence[Film | Picture]]
    detail: Any = None
    lifetime: float = 172_800.0
    reference: str | None = None


@dataclass(slots=True, kw_only=True)
class Job:
    """An accepted job. `fate` is the steering word that spoils its end, if any; `files` are the names of its files."""

    id: str
    prompt: str
    script: Script
    fate: str | None
    media: Sequence[Film | Picture]
    detail: Any
    created_at: float
    starts_at: float
    ends_at: float
    expires_at: float
    canceled_at: float | None = None
    held_until: asyncio.Event | None = None
    files: list[str] = field(default_factory=list)

    def status(self, now: float | None = None) -> str:
        """Returns queued, running, succeeded, failed, cancelled or expired."""
        now = time.time() if now is None else now
        if self.canceled_at is not None:
            return "cancelled"
        if now < self.expires_at and (now < self.ends_at or self.is_held):
            return "queued" if now < self.starts_at else "running"
        if self.expires_at < self.ends_at:
            return "expired"
        return "failed" if self.fate in ("fail", "moderated-output") else "succeeded"

    @property
    def is_held(self) -> bool:
        """Tells whether the job does not end for now, whatever the time."""
        return self.held_until is not None and not self.held_until.is_set()

    def progress(self) -> float:
        """Returns 0 to 1, by the clock."""
        done = (time.time() - self.created_at) / max(0.001, self.ends_at - self.created_at)
        return min(1.0, max(0.0, done))

    def updated_at(self, now: float) -> float:
        """Returns the time of its last change of status."""
        if self.canceled_at is not None:
            return self.canceled_at
        changes = (self.created_at, self.starts_at, min(self.ends_at, self.expires_at))
        return max(change for change in changes if change <= now)

    def urls(self, origin: str) -> list[str]:
        """Returns the addresses of the result's files."""
        return [f"{origin}/files/{name}" for name in self.files]


class Jobs:
    """Jobs of one protocol. A job takes `seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, seconds: float) -> None:
        self._state = state
        self._seconds = seconds
        self._jobs: dict[str, Job] = {}

    def buy(self, request: Request, sale: Sale, error_for: ErrorFor, *, job_id: str = "") -> Job:
        """Returns a paid job, unless a word in the prompt refuses it. Raises Refusal."""
        script, turns = steering.read(sale.prompt), self._state.turns
        if word := turns.take(script, SUBMIT, sale.prompt, REFUSALS):
            raise Refusal(error_for(word))
        reference = sale.reference or request.headers.get("x-client-request-id")
        self._state.audit.buy(sale.kind, sale.prompt, reference)
        fate = turns.take(script, SUBMIT, sale.prompt, FATES)
        now = time.time()
        starts_at, ends_at = schedule(script, now, self._seconds)
        job = Job(
            id=job_id or secrets.token_hex(12),
            prompt=sale.prompt,
            script=script,
            fate=fate.name if fate else None,
            media=sale.media(fate is not None and fate.name == "partial"),
            detail=sale.detail,
            created_at=now,
            starts_at=starts_at,
            ends_at=ends_at,
            expires_at=now + sale.lifetime,
            held_until=self._state.released if script.has("held") else None,
        )
        self._jobs[job.id] = job
        for index, media in enumerate(job.media):
            name = f"{job.id}-{index}.{media.content_type.partition('/')[2]}"
            job.files.append(name)
            self._state.files[name] = File(media=media, script=script)
        return job

    def answered(self, response: Response, job: Job, error_for: ErrorFor) -> Response:
        """Returns the answer to a submission, lost if the prompt says so."""
        loss = self._state.turns.take(job.script, SUBMIT, job.prompt, LOSSES)
        return steering.struck(response, loss, error_for)

    def polled(self, response: Response, jobs: Iterable[Job], error_for: ErrorFor) -> Response:
        """Returns the answer to a poll, spoiled if the prompt of one of its jobs says so."""
        takes = (self._state.turns.take(job.script, POLL, job.id, CALL_FAULTS) for job in jobs if job.script.words)
        return steering.struck(response, next(filter(None, takes), None), error_for)

    def find(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        """Returns all jobs, oldest first."""
        return list(self._jobs.values())

    def cancel(self, job: Job) -> None:
        """Cancels the job; it stays in the counts of what was bought."""
        job.canceled_at = time.time()
        self._state.audit.cancel()

    def forget(self, job: Job) -> None:
        del self._jobs[job.id]

    def open_jobs(self) -> int:
        """Returns how many jobs are queued or running now."""
        now = time.time()
        return sum(job.status(now) in ("queued", "running") for job in self._jobs.values())


def schedule(script: Script, now: float, seconds: float) -> tuple[float, float]:
    """Returns when a job accepted now starts and ends, as its script asks."""
    is_steered = script.has("slow") or script.has("late")
    work = script.seconds("slow", "late") if is_steered else seconds
    if script.has("queued"):
        starts_at = now + script.seconds("queued")
        return starts_at, starts_at + work
    return now + work * QUEUED_SHARE, now + work
