"""Whatever an upstream tells, at whatever place: it is read without harm, and no part is larger than its whole."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.token_usage import COUNTS, TokenUsage
from relay.families.base import AskedCall, CallPath, Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES

EXAMPLES = 60
FAMILIES = (CHAT, RESPONSES, MESSAGES, GENERATE_CONTENT, IMAGES)
ASKED = AskedCall(
    model="m", is_stream=True, input_bound=1, input_estimate=1, images=2, tools={"web_search": None, "googleSearch": 3}
)
PATH = CallPath(path="/v1/images/edits")
# The words that the families look for in answers.
WORDS = re.findall(
    r"\S+",
    """action annotations arguments audio_tokens b64_json cacheTokensDetails cache_creation cache_creation_input_tokens
cache_read_input_tokens cached_tokens cachedContentTokenCount candidates candidatesTokenCount candidatesTokensDetails
choices code completion_tokens completion_tokens_details compaction content content_block data delta encrypted_content
ephemeral_1h_input_tokens ephemeral_5m_input_tokens error executableCode finishReason finish_reason groundingChunks
groundingMetadata image_generation_call image_tokens image_url images index inlineData input input_tokens
input_tokens_details item iterations maps message mimeType modality msg name output output_tokens
output_tokens_details parts promptFeedback promptTokenCount promptTokensDetails prompt_cache_hit_tokens prompt_tokens
prompt_tokens_details quality reasoning_tokens redacted_thinking response result server_tool_use size status
stop_reason success text thinking thoughtsTokenCount tokenCount toolUsePromptTokenCount tool_calls totalTokenCount
totalTokens total_tokens type url urlContextMetadata url_citation usage usageMetadata web_search web_search_call
web_search_requests webSearchQueries AUDIO IMAGE""",
)
KINDS = (
    "response.completed",
    "response.output_item.done",
    "response.output_text.delta",
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "image_generation.completed",
    "image_edit.partial_image",
    "error",
)
ODD = (None, True, False, 0, 1, 7, 300, -1, 2.0, 0.5, float("nan"), float("inf"), 2**62, 10**30, "", "5", "é", "null")
LEAVES = st.sampled_from([*ODD, *WORDS, *KINDS])
VALUES = st.recursive(
    LEAVES | st.integers(0, 1_000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=24,
)
USAGES = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=12)
PLACES = (
    "{}",
    '{"usage": {}}',
    '{"usageMetadata": {}}',
    '{"choices": [{"usage": {}}]}',
    '{"message": {"usage": {}}}',
    '{"response": {"usage": {}}}',
    '{"type": "response.completed", "response": {"output": [], "usage": {}}}',
)


def check(usage: TokenUsage | None) -> None:
    if usage is None:
        return
    for name in COUNTS:
        assert isinstance(getattr(usage, name), int)
        assert 0 <= getattr(usage, name) < 2**62
    into = (usage.cached_tokens, usage.cache_write_tokens, usage.cache_write_1h_tokens)
    assert sum(into) + usage.audio_input_tokens + usage.image_input_tokens <= usage.input_tokens
    assert usage.image_tokens + usage.audio_output_tokens <= usage.output_tokens
    assert usage.reasoning_tokens <= usage.output_tokens
    assert usage.images <= ASKED.images
    assert usage.tool_calls == sum(usage.tools.values())


@st.composite
def answers(draw: st.DrawFn) -> Any:
    """A usage at one of the places where it may stand, with anything beside it."""
    document = json.loads(draw(st.sampled_from(PLACES)).replace("{}", json.dumps(draw(USAGES))))
    return {**draw(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=4)), **document}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@settings(max_examples=EXAMPLES)
@given(document=answers() | VALUES)
def test_any_whole_answer_is_read(family: Family, document):
    check(family.usage(document, ASKED))
    delivered = family.delivered(document, ASKED)
    assert min(delivered.output_bytes, delivered.pictures) >= 0
    assert family.refusal(200, {}, json.dumps(document).encode()).message
    if family.is_answer(document, ASKED):
        for frame in family.frames(document, ASKED, PATH):
            assert frame.endswith(b"\n\n")
            family.stream(ASKED, "m").take(frame)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@settings(max_examples=EXAMPLES)
@given(documents=st.lists(answers() | VALUES, max_size=5))
def test_any_stream_is_read(family: Family, documents):
    reader = family.stream(ASKED, "up")
    for document in documents:
        assert isinstance(reader.take(b"data: " + json.dumps(document).encode() + b"\n\n"), bytes)
        check(reader.usage)
        assert not (reader.error and reader.can_end)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_lies_deep_is_read_as_well(family: Family):
    deep = json.loads('{"usage":' * 900 + "7" + "}" * 900)
    for document in (deep, {"usage": deep, "choices": [deep], "output": deep, "content": [deep], "candidates": [deep]}):
        check(family.usage(document, ASKED))
        family.delivered(document, ASKED)
        reader = family.stream(ASKED, "m")
        reader.take(b"data: " + json.dumps(document).encode() + b"\n\n")
