"""Which answers of a stream have ended."""

import pytest

from relay.families.base import AskedCall
from relay.families.registry import CHAT, GENERATE_CONTENT
from tests.relay.families.asking import event, taken

ASKED = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1)
STREAMS = (
    (CHAT, lambda index: {"choices": [{"index": index, "delta": {"content": "a"}, "finish_reason": "stop"}]}),
    (GENERATE_CONTENT, lambda index: {"candidates": [{"index": index, "content": {}, "finishReason": "STOP"}]}),
)


@pytest.mark.parametrize(("family", "chunk"), STREAMS)
@pytest.mark.parametrize(
    ("index", "can_end"),
    [(0, True), (127, True), (128, False), (-1, False), ("0", False), (None, False), ([], False), ({}, False)],
)
def test_an_index_that_is_none_ends_no_answer_and_breaks_nothing(family, chunk, index, can_end):
    reader = family.stream(ASKED, "m")
    frame = event(chunk(index))
    assert taken(reader, frame) == [frame]
    assert reader.can_end is can_end
