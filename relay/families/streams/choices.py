"""Tracks which answers of a stream have ended: a call may ask for several, and each reports a finish reason."""

from typing import Any

from relay.families.fields import mappings

UNFINISHED = ("", "null", "FINISH_REASON_UNSPECIFIED")
MOST_CHOICES = 128


class Choices:
    """Indexes of a stream's answers: those `seen`, and those that have `ended`. A missing index is the position."""

    __slots__ = ("_asked", "ended", "seen")

    def __init__(self, asked: int) -> None:
        self._asked = asked
        self.ended: set[int] = set()
        self.seen: set[int] = set()

    @property
    def are_enough(self) -> bool:
        """Tells whether as many answers have ended as were asked for."""
        return len(self.ended) >= self._asked

    @property
    def have_all_ended(self) -> bool:
        """Tells whether all answers seen have ended."""
        return self.seen <= self.ended

    def see(self, choices: Any) -> None:
        self.seen.update(
            index for place, choice in enumerate(mappings(choices)) if _is_index(index := choice.get("index", place))
        )

    def end(self, choices: Any, name: str) -> None:
        """Records the choices with a finish reason under `name`."""
        for place, choice in enumerate(mappings(choices)):
            index, reason = choice.get("index", place), choice.get(name)
            if _is_index(index) and isinstance(reason, str) and reason not in UNFINISHED:
                self.ended.add(index)


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < MOST_CHOICES
