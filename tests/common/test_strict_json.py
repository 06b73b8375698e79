"""What a body may be: every row of the parsing table is one InvalidRequest, whatever the bytes."""

import base64
import json
import os
import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import strict_json
from common.errors import InvalidRequest

REFUSED = {
    "empty": (b"", "empty"),
    "blank": (b" \r\n\t", "empty"),
    "byte order mark": (b"\xef\xbb\xbf{}", "byte order mark"),
    "invalid byte": (b'{"a": "\xff"}', "UTF-8 (byte 7)"),
    "overlong": (b'{"a": "\xc0\x80"}', "UTF-8"),
    "encoded surrogate": (b'{"a": "\xed\xa0\x80"}', "UTF-8"),
    "utf-16": ('{"a": 1}'.encode("utf-16-le"), "not valid JSON"),
    "utf-16 with mark": ('{"a": 1}'.encode("utf-16"), "UTF-8"),
    "truncated": (b'{"a": [1, 2', "not valid JSON"),
    "truncated in a string": (b'{"a": "[[[[', "not valid JSON"),
    "the first of two flaws": (b'{"a": [1e999], "a": "\\u0000"}', "a: a duplicate key"),
    "a flaw before the end is missing": (b'{"a": NaN, "b": ', "not valid JSON"),
    "rubbish behind": (b"{} {}", "not valid JSON"),
    "trailing comma": (b'{"a": 1,}', "not valid JSON"),
    "single quotes": (b"{'a': 1}", "not valid JSON"),
    "raw control character": (b'{"a": "\n"}', "not valid JSON"),
    "leading zero": (b'{"a": 01}', "not valid JSON"),
    "100,000 brackets": (b"[" * 100_000, "64 levels"),
    "2,000 objects": (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, "64 levels"),
    "duplicate key": (b'{"a": 1, "a": 2}', "a: a duplicate key"),
    "duplicate key inside": (b'{"params": {"l": [{"n": 1, "n": 1}]}}', "params.l[0].n: a duplicate key"),
    "duplicate by escape": (b'{"a": 1, "\\u0061": 2}', "a: a duplicate key"),
    "NUL": (b'{"params": {"prompt": "a\\u0000b"}}', "params.prompt: a NUL character"),
    "NUL among others": ('{"a": "é\\u0000"}'.encode(), "a: a NUL character"),
    "NUL in a key": (b'{"metadata": {"a\\u0000": 1}}', 'metadata["a\\u0000"]: a NUL character'),
    "lone surrogate": (b'{"a": ["\\ud800"]}', "a[0]: a lone surrogate"),
    "capital surrogates": (b'{"a": "\\uD83D\\uDE00", "b": "\\uDC00"}', "b: a lone surrogate"),
    "low surrogate": (b'{"a": "x\\udfffy"}', "a: a lone surrogate"),
    "lone surrogate in a key": (b'{"\\udc00": 1}', '["\\udc00"]: a lone surrogate'),
    "NaN": (b'{"n": NaN}', "n: NaN"),
    "Infinity": (b'{"n": Infinity}', "n: Infinity"),
    "-Infinity": (b'{"n": [-Infinity]}', "n[0]: -Infinity"),
    "1e999": (b'{"params": {"n": 1e999}}', "params.n: a number that is not finite"),
    "over 64 bit": (b'{"n": 9223372036854775808}', "n: an integer beyond 64 bits"),
    "under 64 bit": (b'{"n": -9223372036854775809}', "n: an integer beyond 64 bits"),
    "5,000 digits": (b'{"n": ' + b"9" * 5_000 + b"}", "n: an integer beyond 64 bits"),
    "too many values": (b'{"a": [' + b"[]," * 100_000 + b"[]]}", "100,000 values"),
    "too many numbers": (b"[" + b"0," * 100_000 + b"0]", "100,000 values"),
    "too many strings": (b"[" + b'"",' * 300_000 + b'""]', "100,000 values"),
}


def refusal(raw: bytes) -> str:
    """Why a body is refused; empty if it is not."""
    try:
        strict_json.loads_object(raw)
    except InvalidRequest as error:
        return error.message
    return ""


def test_a_malformed_body_is_refused_with_its_cause_and_path():
    for name, (raw, said) in REFUSED.items():
        assert said in refusal(raw), name


def test_a_body_that_is_no_object_is_refused():
    for raw in (b"[]", b"null", b"1", b'"text"', b"true"):
        assert "must be a JSON object" in refusal(raw), raw


def test_sixty_four_levels_are_accepted():
    assert strict_json.loads(b"[" * 64 + b"]" * 64)[:0] == []
    strict_json.loads(b'{"a":' * 64 + b"1" + b"}" * 64)


def test_sixty_five_levels_are_refused():
    with pytest.raises(InvalidRequest, match="64 levels"):
        strict_json.loads(b"[" * 65 + b"]" * 65)


def test_brackets_quotes_and_backslashes_inside_strings_are_no_structure():
    document = {"a": "[{" * 100, 'b"\\': '\\"[[[', "c": ["\\\\", '"']}
    assert strict_json.loads(json.dumps(document).encode()) == document


def test_the_largest_integers_and_paired_surrogates_are_accepted():
    raw = b'{"a": 9223372036854775807, "b": -9223372036854775808, "c": "\\ud83d\\ude00"}'
    assert strict_json.loads(raw) == {"a": 2**63 - 1, "b": -(2**63), "c": "😀"}


def test_a_long_key_is_shortened_in_the_path():
    with pytest.raises(InvalidRequest) as caught:
        strict_json.loads(json.dumps({"k" * 10_000: "\0"}).encode())
    assert len(caught.value.message) < 200


def seconds(read: Callable[[bytes], object], raw: bytes) -> float:
    """The least processor time of this thread that one of three runs took: it does not count while others have it."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        read(raw)
        taken.append(time.thread_time() - started)
    return min(taken)


def test_thirty_megabytes_of_base64_are_fast_and_lean():
    raw = b'{"params": {"images": [{"image_url": "' + base64.b64encode(os.urandom(22 << 20)) + b'"}]}}'
    usual, ours = seconds(json.loads, raw), seconds(strict_json.loads_object, raw)
    assert ours < 20 * usual
    assert peak_of(raw) < 2.2 * len(raw)  # beside the body itself


def peak_of(raw: bytes) -> int:
    """The bytes that it takes to read the body."""
    tracemalloc.start()
    try:
        refusal(raw)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_hundred_thousand_flaws_are_lean():
    raw = b"[" + b"NaN," * 99_998 + b"NaN]"
    assert refusal(raw) == "[0]: NaN is not a JSON number."
    assert peak_of(raw) < 32 << 20


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_but_invalid_request(raw: bytes):
    try:
        strict_json.loads(raw)
    except InvalidRequest as error:
        error.message.encode("ascii")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(json_values, st.booleans())
def test_every_sane_document_is_read_as_it_was_written(document: object, ensure_ascii: bool):
    raw = json.dumps(document, ensure_ascii=ensure_ascii).encode()
    assert strict_json.loads(raw) == document


def test_the_digest_ignores_how_a_document_is_written():
    for one, other in (
        (b'{"a":1,"b":[true,null]}', b' { "b" : [ true , null ] , "a" : 1 } '),
        (b'{"a": 1}', b'{"a": 1.0}'),
        (b'{"a": 100}', b'{"a": 1e2}'),
        (b'{"a": "\\u00e9/"}', '{"a": "é\\/"}'.encode()),
    ):
        assert strict_json.digest(one) == strict_json.digest(other), one


def test_the_digest_tells_documents_and_broken_bodies_apart():
    for one, other in (
        (b'{"a": 1}', b'{"a": 2}'),
        (b'{"a": 1}', b'{"a": true}'),
        (b'{"a": 1}', b'{"a": "1"}'),
        (b'{"a": null}', b"{}"),
        (b'["ab", "c"]', b'["a", "bc"]'),
        (b"[[1], 2]", b"[[1, 2]]"),
        (b'{"a": 1.5}', b'{"a": 1.25}'),
        (b"not json", b"not  json"),
        (b'{"a": 1, "a": 1}', b'{"a": 1,  "a": 1}'),
    ):
        assert strict_json.digest(one) != strict_json.digest(other), one


@settings(deadline=None)
@given(json_values)
def test_the_digest_of_a_body_is_the_digest_of_its_document(document: object):
    assert strict_json.digest(json.dumps(document).encode()) == strict_json.digest_of(document)


def test_what_is_only_looked_at_may_hold_all_that_json_has():
    raw = b'{"a": "\\u0000\\ud800", "b\\u0000": 18446744073709551615, "c": 1e999, "d": ' + b"9" * 5_000 + b"}"
    document = strict_json.loads_object(raw, is_kept=False)
    assert (document["a"], document["b\0"], document["c"]) == ("\0\ud800", 2**64 - 1, float("inf"))
    assert document["d"] > 2**62


@pytest.mark.parametrize("raw", [b'{"a": 1, "a": 2}', b'{"a": NaN}', b'{"a": "\t"}', b"{" + b'"a":{' * 64 + b"}" * 65])
def test_what_is_only_looked_at_must_be_clear_all_the_same(raw):
    with pytest.raises(InvalidRequest):
        strict_json.loads_object(raw, is_kept=False)
