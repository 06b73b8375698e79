"""How long to wait before something is tried again: ever longer, up to a limit."""

LONGEST_SECONDS = 60.0


def seconds(times: int, *, asked: float | None = None) -> float:
    """1, then twice as long each time: 2, 4 … 60. Longer where that was asked for, but never over 60."""
    return min(max(2.0 ** min(times, 10), asked or 0.0), LONGEST_SECONDS)
