"""Joins the chunks of Google's dialect into one answer: the parts of each candidate, and the latest value of everything
else."""

from collections.abc import Iterable, Mapping
from typing import Any

from relay.families.fields import mapping, mappings
from relay.families.frames.pieces import Pieces, PieceShape

LOGPROBS = PieceShape(lists=frozenset({"topCandidates", "chosenCandidates"}))
CANDIDATE = PieceShape(objects={"content": PieceShape(lists=frozenset({"parts"})), "logprobsResult": LOGPROBS})
CHUNK = PieceShape(objects={"usageMetadata": PieceShape()}, items={"candidates": CANDIDATE})
SIGNATURE = "thoughtSignature"
OF_TEXT = frozenset({"text", "thought", SIGNATURE})


def join_events(chunks: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Returns the answer; None if no chunk has content."""
    pieces = Pieces(CHUNK)
    for chunk in chunks:
        pieces.take(chunk)
    answer = pieces.document()
    if isinstance(answer.get("candidates"), list):
        answer["candidates"] = [_candidate(candidate) for candidate in mappings(answer["candidates"])]
    return answer or None


def _candidate(candidate: dict[str, Any]) -> dict[str, Any]:
    content = mapping(candidate.get("content"))
    if not isinstance(content.get("parts"), list):
        return candidate
    return {**candidate, "content": {**content, "parts": _joined(content["parts"])}}


def _joined(parts: list[Any]) -> list[Any]:
    """Merges consecutive texts, thoughts and answer apart; a signature ends the text that it signs."""
    joined: list[Any] = []
    texts: list[str] = []
    for part in parts:
        if texts and _is_text(part) and _goes_on(joined[-1], part):
            texts.append(part["text"])
            joined[-1] = {**joined[-1], **part, "text": ""}
            continue
        _close(joined, texts)
        joined.append(part)
        texts = [part["text"]] if _is_text(part) else []
    _close(joined, texts)
    return joined


def _close(joined: list[Any], texts: list[str]) -> None:
    if len(texts) > 1:
        joined[-1]["text"] = "".join(texts)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str) and OF_TEXT.issuperset(part)


def _goes_on(text: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    return not text.get(SIGNATURE) and bool(text.get("thought")) == bool(part.get("thought"))
