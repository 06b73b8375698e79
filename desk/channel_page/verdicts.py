"""Result of a channel's test in words: what happened, why, and what to do next. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.base import ErrorKind
from catalog.models import ChannelTest
from pages import words

State = ChannelTest.State
PATIENCE = timedelta(seconds=200)
BY_KIND: Mapping[str, str] = {
    ErrorKind.MODEL_UNAVAILABLE: "The provider does not know this model, or has not opened it for your account: check "
    "the upstream model and your account there.",
    ErrorKind.FORBIDDEN: "The provider forbids this call without a reason: see its answer below.",
    ErrorKind.AUTH: "The provider refuses the credential: enter another one below.",
    ErrorKind.QUOTA_EXHAUSTED: "The provider's account has no money or quota left: top it up there.",
    ErrorKind.RATE_LIMITED: "The provider is limiting the rate and accepted nothing: test again later.",
    ErrorKind.OVERLOADED: "The provider is overloaded and accepted nothing: test again later.",
    ErrorKind.TRANSIENT: "The provider could not be reached and nothing was sent: check the base URL and the network.",
    ErrorKind.INVALID_REQUEST: "The provider refuses this request: check the upstream model, and limit the "
    "capabilities to what it supports.",
    ErrorKind.CONTENT_POLICY: "The provider's safety check refuses this prompt: the channel itself works. Test with "
    "another prompt.",
    ErrorKind.ASSET_UNREACHABLE: "The provider could not fetch an input.",
    ErrorKind.EMPTY_RESULT: "The provider reported success but returned no result.",
    ErrorKind.PROVIDER_FAILED: "The provider accepted the job, and the job failed there.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelVerdict:
    """Verdict in words; `tone` is good, warn or bad."""

    tone: str
    words: str


def tell(test: ChannelTest, now: datetime) -> ChannelVerdict:
    """Judge a test by its state and answer."""
    match test.state:
        case State.ANSWERED:
            return _answered(test)
        case State.ACCEPTED:
            return _accepted(test)
        case State.REFUSED:
            why = BY_KIND.get(str(test.answer.get("kind")), "The provider refused the request.")
            return ChannelVerdict(tone="bad", words=why)
        case State.UNSENT:
            return ChannelVerdict(
                tone="warn", words="Nothing was sent because of an error on our side: see below, then test again."
            )
        case State.SENT if test.started_at and now - test.started_at < PATIENCE:
            return ChannelVerdict(tone="warn", words="The test is in progress: reload this page in a moment.")
        case _:
            return ChannelVerdict(
                tone="bad",
                words="The answer was lost, so the provider may have accepted the call and may bill it. It is not sent "
                "again automatically. Check the provider's console before you test again.",
            )


def _answered(test: ChannelTest) -> ChannelVerdict:
    files = test.answer.get("files") or []
    problems = [each for each in files if each.get("problem")]
    if problems:
        why = problems[0]["problem"].get("message") or problems[0]["problem"].get("kind")
        return ChannelVerdict(tone="bad", words=f"The provider made a result that cannot be fetched: {why}")
    count = words.counted(len(files), "file")
    kinds = ", ".join(dict.fromkeys(each.get("type") or "of unknown type" for each in files))
    return ChannelVerdict(tone="good", words=f"It works: {count} ({kinds}) after {seconds(test)}.")


def _accepted(test: ChannelTest) -> ChannelVerdict:
    if kind := test.answer.get("kind"):
        return ChannelVerdict(
            tone="warn", words=f"The provider has the job but did not report its state ({kind}): check again."
        )
    done = test.answer.get("progress")
    progress = "" if done is None else f", {done} % done"
    return ChannelVerdict(
        tone="good", words=f"It works so far: the job was accepted{progress}. Check again for the result."
    )


def seconds(test: ChannelTest) -> str:
    if test.started_at is None or test.answered_at is None:
        return words.span(0)
    return words.span((test.answered_at - test.started_at).total_seconds())


def cost(cost_micros: int | None) -> str:
    """Format the operator's own cost."""
    return "own cost unknown" if cost_micros is None else f"own cost {words.usd(cost_micros)}"


def answer(test: ChannelTest) -> Mapping[str, Any]:
    """Get the answer without empty values."""
    return {name: value for name, value in test.answer.items() if value not in (None, {}, [], "")}
