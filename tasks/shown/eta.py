"""How long a model's tasks usually take, from its latest successes."""

import time
from functools import lru_cache

from common import sql

SAMPLE = 200
REFRESH_SECONDS = 15


def usual(media_model_id: int) -> dict[str, float] | None:
    """{p50, p90} in seconds from submission to success, or None before the first success; refreshed each 15 s."""
    return by_model(int(time.monotonic() / REFRESH_SECONDS)).get(media_model_id)


# From the index, so many of each model and no more, however many there were.
LATEST = """
SELECT m.id, (
    SELECT {times} FROM (
        SELECT {took} AS took FROM tasks_task t
        WHERE t.media_model_id = m.id AND t.status = 'succeeded' AND t.finished_at > {since}
        ORDER BY t.finished_at DESC LIMIT %s
    ) AS latest
) AS times FROM catalog_mediamodel m
"""


@lru_cache(maxsize=1)
def by_model(_window: int) -> dict[int, dict[str, float]]:
    took = sql.seconds_between("t.created_at", "t.finished_at")
    statement = LATEST.format(times=sql.objects({"took": "took"}), took=took, since=sql.later("-86400"))
    found: dict[int, dict[str, float]] = {}
    for model, listed in sql.fetch(statement, [SAMPLE]):
        if times := [float(each["took"]) for each in sql.as_document(listed) or ()]:
            found[model] = {"p50": round(quantile(times, 0.5), 1), "p90": round(quantile(times, 0.9), 1)}
    return found


def quantile(times: list[float], share: float) -> float:
    """The value that this share of the others lies below; nothing is interpolated."""
    ordered = sorted(times)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
