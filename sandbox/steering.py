"""Words in a prompt that make the sandbox behave like a provider on a bad day.

Refusals at submission, where nothing is bought (`=N`: only the first N times for this prompt):
    [moderated]         refused by the moderation of the prompt
    [rate-limited]      429 with `Retry-After: 1` and the protocol's code
    [status=CODE]       that HTTP status in the protocol's error shape
    [overloaded]        text: 503 or 529, whichever the protocol uses for an overload
    [fail]              images, text: a definite 400; videos: the job is bought and ends as failed
    [moderated-output]  images: refused by the moderation of the result; videos: the job is bought and ends as failed;
                        text: half of the answer, ended by the filter
Lost answers, where the job is bought (`=N` as above):
    [garbage]           200 with something that is not JSON
    [hang]              no answer
    [reset]             TCP reset instead of an answer
Results:
    [partial]           images: one fewer than asked, at least one; videos: half the duration, reported and delivered
    [more=N]            images: N more than asked; in a protocol without a count, drafts before the picture
    [url]               images: `url` items instead of `b64_json`
    [slow=SECONDS]      the answer (images, text) or the job (videos) takes that long; 10 without a number
    [late=SECONDS]      like [slow], but 60 without a number: longer than deadlines in tests
    [queued=SECONDS]    videos: the job stays queued that long (60 without a number), can be cancelled, and runs then
    [held]              the answer (images, text) or the end of the job (videos) waits for `POST /release`
Contents of a text (for the usual ones see sandbox/text/):
    [words=N]           an answer of N words
    [tool]              calls the first of the tools that were given
    [thinking=N]        N tokens of thought before the answer, within its limit
    [cached=N] [cache-write=N]  N additional input tokens, read from a cache or written to one
    [no-usage]          no usage is reported
Faults in the middle of a stream or a whole answer (`=N`: only the first N times for this prompt):
    [cut]               it ends there, as if that were its end
    [silence=SECONDS]   a pause between two frames; 10 without a number
    [stream:reset] [stream:hang] [stream:garbage] [stream:held] (held until `POST /release`)
    [error-first]       200 with `[overloaded]`'s error as the first frame, as `[first:overloaded]`; nothing bought
    [first:rate-limited] [first:moderated] [first:fail] (500) [first:status=CODE] likewise
    [stream:overloaded] … these errors in the middle
Faults of later calls, `[poll:…]` and `[download:…]` (`=N`: only the first N times for this job or file):
    [poll:reset] [poll:hang] [poll:garbage] [poll:rate-limited] [poll:fail] (500) [poll:status=CODE] [poll:slow=SECONDS]
    [poll:held] (until `POST /release`)
    [download:reset] … likewise; reset and hang strike in the middle of the file, slow drips it, garbage keeps its type.
    A list of jobs is one answer, struck if one of its jobs is.
Among words for one moment, the first with turns left applies: `[poll:reset=1][poll:garbage=1]` is a sequence.
Other words in brackets have no effect.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.wire import Cut, Response

SUBMIT, POLL, DOWNLOAD, FIRST, STREAM = "submit", "poll", "download", "first", "stream"
PATTERN = re.compile(r"\[(?:(submit|poll|download|first|stream):)?([a-z-]+)(?:=(\d{1,6}(?:\.\d{1,3})?))?\]")
DEFAULT_SECONDS = {"slow": 10.0, "late": 60.0, "queued": 60.0, "silence": 10.0}
COUNTS = ("status", "more", "words", "thinking", "cached", "cache-write")
LOSSES = ("garbage", "hang", "reset")
CALL_FAULTS = (*LOSSES, "rate-limited", "fail", "status", "slow", "held")
GARBAGE = b"<html><body>The gateway had a bad day.</body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One steering word: when it strikes, its effect, and the number after `=` if any."""

    stage: str
    name: str
    number: float | None = None

    @property
    def turns(self) -> float | None:
        """Returns how many times it strikes; None for always."""
        return None if self.name in (*COUNTS, *DEFAULT_SECONDS) else self.number


@dataclass(frozen=True, slots=True)
class Script:
    """The steering words of a prompt, in order."""

    words: tuple[Word, ...] = ()

    def has(self, name: str) -> bool:
        """Tells whether the word applies to the submission."""
        return any(word.stage == SUBMIT and word.name == name for word in self.words)

    @property
    def surplus(self) -> int:
        """Returns how many extra pictures to make."""
        return self.count("more")

    def count(self, name: str) -> int:
        """Returns the sum of this word's numbers in COUNTS; 0 without it."""
        return int(sum(word.number or 0 for word in self.words if word.stage == SUBMIT and word.name == name))

    def seconds(self, *names: str) -> float:
        """Returns the sum of these words' seconds; 0 without them."""
        return sum(seconds_of(word) for word in self.words if word.stage == SUBMIT and word.name in names)


def read(prompt: str) -> Script:
    """Returns the script in a prompt."""
    return Script(
        tuple(
            Word(stage=stage or SUBMIT, name=name, number=float(number) if number else None)
            for stage, name, number in PATTERN.findall(prompt)
        )
    )


def without_words(prompt: str) -> str:
    """Returns the prompt without anything that could be a word."""
    return PATTERN.sub(" ", prompt)


def seconds_of(word: Word) -> float:
    """Returns the seconds of a word of DEFAULT_SECONDS."""
    return DEFAULT_SECONDS[word.name] if word.number is None else word.number


class Turns:
    """Counts how often each word has struck, per prompt, job or file."""

    def __init__(self) -> None:
        self._taken: Counter[tuple[str, Word]] = Counter()

    def take(self, script: Script, stage: str, subject: str, names: tuple[str, ...]) -> Word | None:
        """Returns the word among `names` that strikes now, if any, and uses up one of its turns."""
        for word in script.words:
            if word.stage != stage or word.name not in names:
                continue
            if word.turns is None:
                return word
            if self._taken[subject, word] < word.turns:
                self._taken[subject, word] += 1
                return word
        return None


def struck(response: Response, word: Word | None, error: Callable[[Word], Response], *, share: float = 0.0) -> Response:
    """Returns the answer as the word spoils it. `error` makes the protocol's own refusals; `share` is sent before a
    cut."""
    match word:
        case None:
            return response
        case Word(name="garbage"):
            return replace(response, body=GARBAGE)
        case Word(name="reset" | "hang"):
            return replace(response, cut=Cut(word.name), share=share)
        case Word(name="slow"):
            return replace(response, drip_seconds=seconds_of(word))
        case Word(name="held"):
            return replace(response, is_held=True)
        case _:
            return error(word)
