"""How long a model's tasks usually take, from its latest successes."""

import time
from functools import lru_cache

from common import sql

SAMPLE = 200
REFRESH_SECONDS = 15


def usual(media_model_id: int) -> dict[str, float] | None:
    """{p50, p90} in seconds from submission to success, or None before the first success; refreshed each 15 s."""
    return _by_model(int(time.monotonic() / REFRESH_SECONDS)).get(media_model_id)


@lru_cache(maxsize=1)
def _by_model(_window: int) -> dict[int, dict[str, float]]:
    took = (
        "EXTRACT(EPOCH FROM finished_at - created_at)"
        if sql.is_postgresql()
        else "(julianday(finished_at) - julianday(created_at)) * 86400.0"
    )
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
    return {model: {"p50": _percentile(t, 0.5), "p90": _percentile(t, 0.9)} for model, t in times.items()}


def forget() -> None:
    """Only for tests: where transactions are rolled back, ids repeat."""
    _by_model.cache_clear()


def _percentile(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 1)
