"""How a moment is written for the world outside: in answers, logs and the output of commands."""

from datetime import UTC, datetime


def iso(moment: datetime | None, *, timespec: str = "milliseconds") -> str | None:
    """ISO 8601 in UTC with Z; None stays None. To the millisecond, or to what `isoformat` calls `timespec`."""
    if moment is None:
        return None
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec=timespec).removesuffix("+00:00") + "Z"
