"""Reads an answer of Google's dialect: whole, as a chunk of a stream, or as the array of all its chunks."""

from collections.abc import Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, pictures, sounds, told_counts, tool_counts
from relay.families.answers.written import written_bytes
from relay.families.base import AskedCall, Delivered
from relay.families.fields import mapping, mappings
from relay.families.frames import joined_candidates
from relay.families.told_counts import ToldCounts

TEXTS = ("text", "thoughtSignature", "code")
WRITTEN = frozenset(TEXTS)
ARGUMENTS = frozenset({"args"})
MODALITIES = {"IMAGE": 2, "AUDIO": 4}


def usage(document: Any, asked: AskedCall) -> TokenUsage | None:
    run = tool_counts.count_candidates(joined(document).get("candidates"), asked)
    return tool_counts.add_calls(_greatest(document), run)


def delivered(document: Any) -> Delivered:
    said = contents(joined(document))
    return Delivered(
        output_bytes=written_bytes(said, WRITTEN, ARGUMENTS),
        pictures=pictures.count_in_contents(said),
        sound_bytes=sounds.measure_contents(said),
    )


def joined(document: Any) -> dict[str, Any]:
    """Returns the answer, joined from its chunks if it is an array of them."""
    return joined_candidates.join_events(mappings(document)) or mapping(document)


def contents(document: Any) -> list[Any]:
    return [candidate.get("content") for candidate in mappings(mapping(document).get("candidates"))]


def is_blocked(document: Mapping[str, Any]) -> bool:
    """Tells whether the prompt was blocked."""
    return bool(mapping(document.get("promptFeedback")).get("blockReason"))


def has_candidate(document: Mapping[str, Any]) -> bool:
    """Tells whether a candidate has content."""
    return any(map(is_told, mappings(document.get("candidates"))))


def is_told(candidate: Mapping[str, Any]) -> bool:
    """Tells whether there is content in a candidate."""
    return bool(candidate.get("content") or candidate.get("finishReason"))


def read_tokens(usage: Mapping[str, Any]) -> TokenUsage | None:
    """Returns the tokens of a usage; None if it reports none. Thoughts are not among the candidates' tokens, nor tool
    results among the prompt's."""
    given = [counts.count(usage, name) for name in ("promptTokenCount", "toolUsePromptTokenCount")]
    return told_counts.reconcile(
        ToldCounts(
            input=None if given == [None, None] else sum(number or 0 for number in given),
            output=counts.count(usage, "candidatesTokenCount"),
            total=counts.count(usage, "totalTokenCount"),
            cached=counts.count(usage, "cachedContentTokenCount") or 0,
            cached_kinds=_cached(usage),
            audio_in=_fresh(usage, "AUDIO"),
            images_in=_fresh(usage, "IMAGE"),
            thoughts=counts.count(usage, "thoughtsTokenCount") or 0,
            images_out=_of_kind(usage, "candidatesTokensDetails", "IMAGE"),
            audio_out=_of_kind(usage, "candidatesTokensDetails", "AUDIO"),
            are_thoughts_beside=True,
        )
    )


def _greatest(document: Any) -> TokenUsage | None:
    """Returns the usage of an answer, or the chunks' combined usage of an array."""
    known: dict[str, Any] = {}
    greatest: TokenUsage | None = None
    for chunk in mappings(document) or [mapping(document)]:
        known = counts.completed(known, mapping(chunk.get("usageMetadata")))
        if later := read_tokens(known):
            greatest = counts.greater(greatest, later)
    return greatest


def _fresh(usage: Mapping[str, Any], modality: str) -> int:
    """Counts the input of one modality that came from no cache."""
    given = _of_kind(usage, "promptTokensDetails", modality) + _of_kind(usage, "toolUsePromptTokensDetails", modality)
    return max(0, given - _of_kind(usage, "cacheTokensDetails", modality))


def _cached(usage: Mapping[str, Any]) -> dict[str, int]:
    """Counts the sound and pictures that came from a cache."""
    numbers = {kind: _of_kind(usage, "cacheTokensDetails", kind.upper()) for kind in ("audio", "image")}
    return {kind: number for kind, number in numbers.items() if number}


def _of_kind(usage: Mapping[str, Any], name: str, modality: str) -> int:
    details = mappings(usage.get(name))
    return sum(counts.count(detail, "tokenCount") or 0 for detail in details if _is_kind(detail, modality))


def _is_kind(detail: Mapping[str, Any], modality: str) -> bool:
    """Tells whether a detail is of the modality, by name or by its number in the protocol buffer."""
    said = detail.get("modality")
    return said == MODALITIES[modality] or str(said).upper() == modality
