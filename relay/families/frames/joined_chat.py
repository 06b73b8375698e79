"""Joins the chunks of a chat completion into the whole completion."""

from collections.abc import Hashable, Iterable, Mapping
from operator import itemgetter
from typing import Any

from relay.families.fields import mapping, mappings
from relay.families.frames.pieces import Pieces, PieceShape, by_index
from relay.families.openai_counts import usages

NO_REASON = "null"
# Fields of a chunk to drop: the padding with which OpenAI hides its length, and repeated values.
OF_STREAMS = frozenset({"obfuscation", "choices", "usage"})


def _by_call(item: Mapping[str, Any], place: int, known: dict[Hashable, Pieces]) -> Hashable:
    """Identifies a tool call by its index. Some gateways leave the index out or repeat it: then the id decides, and
    without an id a name begins a new call."""
    index, told = item.get("index"), item.get("id")
    called = told if isinstance(told, str) and told else None
    begins = bool(mapping(item.get("function")).get("name"))
    if isinstance(index, int):
        first = known[index].told("id") if index in known else None
        return (index, called) if begins and called and first and first != called else index
    if called is None and known and not begins:
        return next(reversed(known))
    return called or ("no id", len(known))


def _by_kind(item: Mapping[str, Any], place: int, _: object) -> Hashable:
    return str(item.get("type")), by_index(item, place)


WRITTEN = PieceShape(texts=frozenset({"arguments", "input"}))
CALL = PieceShape(objects={"function": WRITTEN, "custom": WRITTEN}, key=_by_call)
DETAIL = PieceShape(texts=frozenset({"text", "summary", "data"}), key=_by_kind)
DELTA = PieceShape(
    texts=frozenset({"content", "refusal", "reasoning_content", "reasoning"}),
    lists=frozenset({"content", "annotations", "images"}),
    objects={"function_call": WRITTEN, "audio": PieceShape(texts=frozenset({"data", "transcript"}))},
    items={"tool_calls": CALL, "reasoning_details": DETAIL},
)
CHOICE = PieceShape(objects={"delta": DELTA, "logprobs": PieceShape(lists=frozenset({"content", "refusal"}))})
CHUNK = PieceShape(objects={"usage": PieceShape()}, items={"choices": CHOICE})


def join_events(chunks: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Returns the completion; None if no chunk has a choice or usage."""
    pieces = Pieces(CHUNK)
    for chunk in chunks:
        pieces.take(chunk)
    answer = pieces.document()
    choices = [_choice(choice, place) for place, choice in enumerate(mappings(answer.get("choices")))]
    usage = next(filter(None, usages(answer)), None)
    rest = {name: value for name, value in answer.items() if name not in OF_STREAMS}
    if not (choices or usage):
        return None
    told = {"usage": usage} if usage else {}
    ordered = sorted(choices, key=itemgetter("index"))
    return {**rest, "object": "chat.completion", "choices": ordered, **told}


def _choice(choice: Mapping[str, Any], place: int) -> dict[str, Any]:
    rest = {name: value for name, value in choice.items() if name not in ("delta", "message")}
    reason = choice.get("finish_reason") or None
    return {
        "logprobs": None,
        **rest,
        "index": by_index(choice, place),
        "message": _message(mapping(choice.get("delta")), mapping(choice.get("message"))),
        "finish_reason": None if reason == NO_REASON else reason,
    }


def _message(said: Mapping[str, Any], repeated: Mapping[str, Any]) -> dict[str, Any]:
    """Merges the deltas; a last chunk may repeat everything as a message, with additions."""
    told = {name: value for name, value in said.items() if value or name not in repeated}
    message = {"role": "assistant", "content": None, **repeated, **told}
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [_call(call) for call in mappings(message["tool_calls"])]
    return message


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    kind = {"type": "function"} if "function" in call else {}
    return {**kind, **{name: value for name, value in call.items() if name != "index"}}
