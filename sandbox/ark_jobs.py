"""The jobs of the Ark protocol: their life follows the clock, so that thousands of open ones cost nothing."""

from dataclasses import dataclass

from sandbox.films import Film
from sandbox.steering import Script

QUEUED_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: what is to be made. Seconds and Unix times."""

    model: str
    prompt: str
    seconds: int
    resolution: str
    ratio: str
    sound: bool
    last_frame: bool
    seed: int
    service_tier: str
    expires_after: int

    def film(self, *, partial: bool) -> Film:
        """The result; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=self.ratio, seconds=seconds, sound=self.sound)


@dataclass(slots=True, kw_only=True)
class Job:
    """An accepted job. `fate` is the steering word that spoils its end, if any."""

    id: str
    order: Order
    script: Script
    film: Film
    fate: str | None
    created_at: float
    starts_at: float
    ends_at: float
    canceled_at: float | None = None

    def status(self, now: float) -> str:
        """The protocol's word for where the job is."""
        if self.canceled_at is not None:
            return "cancelled"
        if now < self.expires_at and now < self.ends_at:
            return "queued" if now < self.starts_at else "running"
        if self.expires_at < self.ends_at:
            return "expired"
        return "failed" if self.fate in ("fail", "moderated-output") else "succeeded"

    @property
    def expires_at(self) -> float:
        """When the provider gives a job up that has not ended."""
        return self.created_at + self.order.expires_after

    def updated_at(self, now: float) -> float:
        """The time of the last change of its status."""
        if self.canceled_at is not None:
            return self.canceled_at
        changes = (self.created_at, self.starts_at, min(self.ends_at, self.expires_at))
        return max(change for change in changes if change <= now)


def schedule(script: Script, now: float, video_seconds: float) -> tuple[float, float]:
    """When a job accepted now starts and ends, as its script asks."""
    is_steered = script.has("slow") or script.has("late")
    work = script.seconds("slow", "late") if is_steered else video_seconds
    if script.has("queued"):
        starts_at = now + script.seconds("queued")
        return starts_at, starts_at + work
    return now + work * QUEUED_SHARE, now + work
