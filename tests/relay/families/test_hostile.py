"""Whatever a client sends is read or refused, and whatever an upstream sends is passed or dropped: nothing breaks."""

import json
import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.errors import InvalidRequest
from relay.families.base import AskedCall
from relay.families.registry import find_family

EXAMPLES = 30
PATHS = (
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/models/m:generateContent",
    "/v1/models/m:streamGenerateContent",
    "/v1/models/m:countTokens",
    "/v1/images/generations",
    "/v1/images/edits",
)
# The words that the families look for, in requests and in answers.
WORDS = re.findall(
    r"\S+",
    """audio background cache_control cachedContent cached_content candidates candidatesTokenCount
candidatesTokensDetails choices code compaction completion_tokens container content contents data definition
delta details error fallbacks fieldViolations file fileData fileUri file_data file_id file_uri filename
finishReason finish_reason frame_count function functionCall functionDeclarations generateContentRequest
generationConfig id image_generation.completed image_url images include_usage inlineData input input_audio
input_file input_tokens input_tokens_details iterations maxOutputTokens max_tokens message message_start
messages metadata mimeType mask modalities modality model modelVersion n name namespace output output_format
output_tokens output_tokens_details param promptFeedback prompt promptTokenCount prompt_tokens
prompt_tokens_details response response.completed response.failed responseModalities role service_tier source
speed status stream stream_options system text thinking tool_definition tool_use tools ttl totalTokenCount
total_tokens type url usage usageMetadata""",
)
VALUES = st.recursive(
    st.sampled_from(
        [None, True, 0, 1, -1, 2**62, 0.5, "", "m", "https://[", "../m", "é", "\0", "\ud800", 2**64, *WORDS]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=16,
)
DOCUMENTS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=8)


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=EXAMPLES)
@given(document=DOCUMENTS, has_model=st.booleans())
def test_a_request_is_read_or_refused(path, document, has_model):
    family, called = find_family("POST", path)
    called = replace(called, query="alt=sse" if "stream" in path else "")
    document |= {"model": "m"} if has_model else {}
    raw = json.dumps(document).encode()
    document = family.document(raw, called)
    with suppress(InvalidRequest):
        asked = family.read(document, raw, called)
        assert all(field.name and field.path for field in asked.refused)
        assert min(asked.input_bound, asked.input_estimate) > 0
        assert json.dumps([asked.size, asked.quality, *asked.tools, asked.file_path]).count("\\ud8") == 0
        assert json.loads(family.body(document, raw, asked, "up/é")) is not None


@pytest.mark.parametrize("path", PATHS[:3] + PATHS[5:6] + PATHS[7:8])
@settings(max_examples=EXAMPLES)
@given(documents=st.lists(DOCUMENTS, max_size=4), noise=st.binary(max_size=20))
def test_an_answer_is_passed_or_dropped(path, documents, noise):
    family, _ = find_family("POST", path)
    asked = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1, images=1)
    reader = family.stream(asked, "up")
    for document in documents:
        raw = json.dumps(document).encode()
        for frame in (b"data: " + raw + b"\n\n", b"event: x\r\ndata:" + raw + noise + b"\r\n\r\n"):
            assert isinstance(reader.take(frame), bytes)
        assert json.loads(family.shown(raw, asked, "up")) is not None
        assert family.delivered(document, asked).output_bytes >= 0
        assert family.refusal(500, {}, raw + noise).message
