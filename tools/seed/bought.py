"""Builds the history's paid calls as `tasks/paid_calls.py` would have stored them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from catalog import prices
from catalog.entries import RouteEntry
from tasks.models import Call, Task
from tools.seed.fates import Leg
from tools.seed.wishes import Order

LATE = timedelta(hours=3)
ACCEPTED = timedelta(milliseconds=800)
"""Seconds until a provider accepts a job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """One paid call: its attempt, worker and route, its times, and its outcome. `differs` tells how the provider's
    report differed from the bill."""

    task: Task
    order: Order
    leg: Leg
    number: int
    worker_id: str
    route: RouteEntry
    at: datetime
    ended_at: datetime
    differs: str

    @property
    def is_job(self) -> bool:
        """Tells whether the provider assigned it an id."""
        return self.task.modality == "video" and self.leg.is_answered and self.leg.state != "refused"

    @property
    def answered_at(self) -> datetime | None:
        if self.is_job:
            return self.at + ACCEPTED
        return self.ended_at if self.leg.is_answered else None

    @property
    def cost_micros(self) -> int | None:
        """Returns the operator's own cost if the provider billed the call and the catalog knows the cost."""
        if not self.leg.is_paid:
            return None
        price = self.order.prepared.price
        units = price.pricing_mode.units(files=price.quantity, seconds=self.order.seconds)
        return prices.own_cost_micros(self.route, price.tier, units)


def call(rng: random.Random, bought: Bought, credentials: Mapping[int, Sequence[int]], until: datetime) -> Call:
    """Returns its row; `credentials` are ids by channel. Late answers came before `until`."""
    leg, channel_id = bought.leg, bought.route.channel.id
    ended_at = min(bought.ended_at + LATE * rng.random(), until) if leg.is_late else bought.ended_at
    return Call(
        task=bought.task,
        attempt=bought.number,
        worker_id=bought.worker_id,
        channel_id=channel_id,
        credential_id=rng.choice(credentials[channel_id]) if channel_id in credentials else None,
        route_id=bought.route.id,
        target=asdict(bought.route.target),
        request_digest=digest(rng),
        state=leg.state,
        handle={"id": f"cgt-{rng.getrandbits(48):012x}"} if bought.is_job else None,
        outcome=_outcome(rng, bought),
        cost_micros=bought.cost_micros,
        mismatch=bought.differs if leg.outcome["kind"] == "succeeded" else "",
        created_at=bought.at,
        answered_at=bought.answered_at,
        finished_at=ended_at if leg.is_paid and leg.is_answered else None,
        ended_at=ended_at,
    )


def _outcome(rng: random.Random, bought: Bought) -> dict[str, Any]:
    said = dict(bought.leg.outcome)
    if said["kind"] == "succeeded":
        return {**said, "delivered": bought.order.files}
    if "http_status" in said:
        return {**said, "request_id": f"req_{rng.getrandbits(64):016x}" if bought.leg.is_answered else None}
    return said


def digest(rng: random.Random) -> str:
    return sha256(rng.randbytes(16)).hexdigest()
