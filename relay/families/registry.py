"""Finds the family of a companion path."""

import re

from relay.families.base import CallPath, Family
from relay.families.chat import ChatFamily
from relay.families.generate_content import VERBS, GenerateContentFamily
from relay.families.images import EDITS, GENERATIONS, ImagesFamily
from relay.families.messages import COUNT_TOKENS, MessagesFamily
from relay.families.responses import ResponsesFamily

CHAT: Family = ChatFamily()
MESSAGES: Family = MessagesFamily()
RESPONSES: Family = ResponsesFamily()
IMAGES: Family = ImagesFamily()
FIXED: dict[str, Family] = {
    "/v1/chat/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/messages": MESSAGES,
    COUNT_TOKENS: MESSAGES,
    GENERATIONS: IMAGES,
    EDITS: IMAGES,
}
GENERATE_CONTENT: Family = GenerateContentFamily()
OF_A_MODEL: dict[str, Family] = dict.fromkeys(VERBS, GENERATE_CONTENT)
# The model may contain slashes and colons; the verb follows the last colon.
MODEL_PATH = re.compile(r"/(?:v1|v1beta)/(?:models/|(?=tunedModels/))(?P<model>.+):(?P<verb>\w+)", re.DOTALL)


def find_family(method: str, path: str) -> tuple[Family, CallPath] | None:
    """Returns the family and the path, taken apart; None if no family has the path with this method. `path` is
    percent-decoded, as in ASGI. To name a path's methods, ask for POST."""
    if method != "POST":
        return None
    if family := FIXED.get(path):
        return family, CallPath(path=path)
    found = MODEL_PATH.fullmatch(path)
    model_family = OF_A_MODEL.get(found["verb"]) if found else None
    if found is None or model_family is None:
        return None
    return model_family, CallPath(path=path, model=found["model"], verb=found["verb"])
