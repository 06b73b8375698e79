"""Common part of protocols without a count, whose callers send one prompt several times."""

from collections import Counter

from sandbox.steering import Script


class FanOut:
    """Counts the calls of each prompt."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()

    def take(self, prompt: str, script: Script) -> tuple[int, bool]:
        """Returns the number of this call, from 0, and whether it ends without a picture, as the first one of
        `[partial]` does."""
        index = self._calls[prompt]
        self._calls[prompt] += 1
        return index, index == 0 and script.has("partial")
