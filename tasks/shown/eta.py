"""How long a model's tasks usually take, from its latest successes."""

import time
from functools import lru_cache

from common import sql

SAMPLE = 200
REFRESH_SECONDS = 15


def usual(media_model_id: int) -> dict[str, float] | None:
    """{p50, p90} in seconds from submission to success, or None before the first success; refreshed each 15 s."""
    return by_model(int(time.monotonic() / REFRESH_SECONDS)).get(media_model_id)


@lru_cache(maxsize=1)
def by_model(_window: int) -> dict[int, dict[str, float]]:
    took = sql.seconds_between("created_at", "finished_at")
    rows = sql.fetch(
        f"SELECT m.id, s.took FROM catalog_mediamodel m JOIN (SELECT media_model_id, {took} AS took, "
        "row_number() OVER (PARTITION BY media_model_id ORDER BY finished_at DESC) AS n FROM tasks_task "
        f"WHERE status = 'succeeded' AND finished_at > {sql.later('-86400')}) s ON s.media_model_id = m.id "
        "WHERE s.n <= %s",
        [SAMPLE],
    )
    times: dict[int, list[float]] = {}
    for model, seconds in rows:
        times.setdefault(model, []).append(float(seconds))
    return {model: {"p50": round(quantile(t, 0.5), 1), "p90": round(quantile(t, 0.9), 1)} for model, t in times.items()}


def quantile(times: list[float], share: float) -> float:
    """The value that this share of the others lies below; nothing is interpolated."""
    ordered = sorted(times)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
