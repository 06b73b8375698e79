"""Decides when customers work: more by day than by night, less on weekends, a little more every week. Pure.

Whatever the clock says, the history ends during a busy hour of a working day, so that there is much to see.
"""

import math
import random
from datetime import datetime, timedelta

HOUR = timedelta(hours=1)
NIGHT, WEEKEND = 0.08, 0.4
BUSIEST = timedelta(hours=1.5)
"""Time from the middle of the working day to the end of the history."""
DAYS_OFF = (3, 4)
"""Days of the weekend before the last day, and in every week before."""
GROWTH = 0.6
"""Factor by which the last day is busier than the first."""


def moments(rng: random.Random, since: datetime, until: datetime, count: int) -> list[datetime]:
    """Chooses `count` times between both, in order and in this rhythm, in whole milliseconds as databases store
    them."""
    hours = math.ceil((until - since) / HOUR)
    weights = [weight(until - since - HOUR * n, share=n / hours) for n in range(hours)]
    picked = rng.choices(range(hours), weights, k=count)
    found = (since + HOUR * hour + timedelta(milliseconds=rng.randrange(3_600_000)) for hour in picked)
    return sorted(min(at, until - timedelta(milliseconds=rng.randrange(60_000))) for at in found)


def weight(before: timedelta, *, share: float) -> float:
    """Returns how busy the hour is at this time before the end; `share` is the elapsed share of the time, 0 to 1."""
    daylight = max(0.0, math.cos((before - BUSIEST) / timedelta(days=1) * 2 * math.pi))
    week = WEEKEND if before.days % 7 in DAYS_OFF else 1.0
    return (NIGHT + daylight) * week * (1 + GROWTH * share)
