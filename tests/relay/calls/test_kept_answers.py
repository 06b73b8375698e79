"""Answers that are taken in: a large one lies in a file, and is whole all the same."""

import asyncio
import json

import pytest

from relay.calls.kept_answers import MEMORY_BYTES, KeptAnswer

PIECE = 64 * 1024


@pytest.mark.parametrize("beyond", [1, 500, 1000, 4000, 8191, 8192, 30_000])
@pytest.mark.parametrize("pieces", [16, 17, 40])
def test_the_end_of_a_large_answer_is_read_too(pieces, beyond) -> None:
    document = {"data": [{"b64_json": "A" * 100}] * 3, "padding": "", "usage": {"output_tokens": 7}}
    document["padding"] = "a b" * ((pieces * PIECE + beyond - len(json.dumps(document))) // 3)
    said = json.dumps(document).encode()
    said += b" " * (pieces * PIECE + beyond - len(said))
    assert len(said) > MEMORY_BYTES

    async def taken() -> object:
        answer = KeptAnswer("payer")
        try:
            for begin in range(0, len(said), PIECE):
                await answer.take(said[begin : begin + PIECE])
            return answer.document()
        finally:
            answer.close()

    assert asyncio.run(taken()) == document
