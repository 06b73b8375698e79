"""What xAI's error bodies mean: `{"code": a sentence, "error": text}`, `{"error": text}` or the shape of OpenAI.

The sentences are those of gRPC and stand for several things: the text tells what was meant. They become codes of
OpenAI's here.
"""

import re
from typing import Any

from adapters.kit.error_kinds import INTERRUPTED, SpokenError, spoken_error
from adapters.kit.error_shapes import error_object, error_text

# Anchored where the channel is at stake: a text may quote the prompt.
MODERATED = "imagine:content-moderated"
MEANINGS = (
    (re.compile(r".*(content moderation|content polic|usage guidelines)", re.IGNORECASE), "content_policy_violation"),
    (re.compile(r"your (newly created )?teams?\b.*(credits|spending limit)", re.IGNORECASE), "insufficient_quota"),
    (re.compile(r"(incorrect|invalid|no) api key\b", re.IGNORECASE), "invalid_api_key"),
    (re.compile(r"(your|this|the) api key (is|has been) (currently )?(blocked|disabled)\b", re.I), "invalid_api_key"),
)


def spoken(document: Any, status: int) -> SpokenError:
    """What a body says; under a 5xx, or of an interrupted request, only that: its text does not decide whether
    something was bought."""
    said = spoken_error(document)
    if status >= 500 or status in INTERRUPTED:
        return said
    if said.code == MODERATED:
        return said._replace(code="content_policy_violation")
    code = next((code for words, code in MEANINGS if words.match(said.message)), said.code)
    return said._replace(code=code)


def is_own(document: Any) -> bool:
    """Any of the three."""
    return error_object(document) or error_text(document)
