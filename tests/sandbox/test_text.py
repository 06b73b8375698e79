"""Text in the four ways in which three vendors tell it: answers, streams, bills, errors, and what breaks them."""

import json

import pytest
import requests

from tests.sandbox.speaking import CHAT, GEMINI, MESSAGES, MODEL, RESPONSES, SPEAKERS
from tools.children import PATIENCE, wait_until

TERMINALS = {
    "chat": b"data: [DONE]\n\n",
    "responses": b'event: response.completed\ndata: {"type":"response.completed"',
    "messages": b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    "gemini": b'"finishReason":"STOP"',
}
FINISHES = {
    "chat": ("stop", "length", "tool_calls", "content_filter"),
    "responses": ("message", "max_output_tokens", "function_call", "content_filter"),
    "messages": ("end_turn", "max_tokens", "tool_use", "refusal"),
    "gemini": ("STOP", "MAX_TOKENS", "STOP", "SAFETY"),
}
FIRST_FRAMES = {
    "chat": b'data: {"error":{"message":"Our servers are currently overloaded.',
    "responses": b'event: error\ndata: {"type":"error","code":"server_is_overloaded","message":"Our servers',
    "messages": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    "gemini": b'data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.",',
}

every = pytest.mark.parametrize("name", SPEAKERS)


@every
def test_the_answer_is_an_echo_and_a_word_is_a_token(sandbox, name):
    speaker, (stop, length, _, filtered) = SPEAKERS[name], FINISHES[name]
    for prompt, limit, told in (
        ("a fox in snow", 9, ("a fox in snow", stop, 4, 0, 4)),
        ("a fox [words=5]", 9, ("a fox a fox a", stop, 3, 0, 5)),
        ("a fox in snow [thinking=2] [cached=7] [cache-write=3]", 9, ("a fox in snow", stop, 17, 7, 6)),
        ("a fox in snow", 3, ("a fox in", length, 4, 0, 3)),
        ("a fox in snow [thinking=2]", 3, ("a", length, 5, 0, 3)),
        ("a fox in snow[moderated-output]", 9, ("a fox", filtered, 4, 0, 2)),
    ):
        answer = speaker.ask(sandbox, prompt, **speaker.options(limit))
        assert speaker.told(answer.json()) == told, prompt
    assert sandbox.audit()["by_kind"] == {"text": 6}
    silent = speaker.ask(sandbox, "a fox [no-usage]").json()
    assert not any(silent.get(field) for field in ("usage", "usageMetadata"))


@every
def test_a_stream_tells_the_same_word_by_word(sandbox, name):
    speaker = SPEAKERS[name]
    stream = speaker.ask(sandbox, "a fox in snow [thinking=2]", is_stream=True)
    assert stream.headers["content-type"].startswith("text/event-stream")
    texts = [text for text in map(speaker.said, speaker.frames(stream.content)) if text]
    assert texts == ["a", " fox", " in", " snow"]
    assert TERMINALS[name] in stream.content


@every
def test_a_tool_is_called_when_it_is_asked_for_and_its_result_is_answered(sandbox, name):
    speaker, called = SPEAKERS[name], ("look", {"where": "a fox", "often": 1})
    arguments = len(json.dumps(called[1]).split())
    answer = speaker.ask(sandbox, "a fox [tool]", **speaker.tools).json()
    assert speaker.told(answer) == (called, FINISHES[name][2], 3, 0, 1 + arguments)
    assert speaker.told(speaker.ask(sandbox, "a fox", **speaker.tools).json())[0] == "a fox"
    stream = speaker.ask(sandbox, "a fox [tool]", is_stream=True, **speaker.tools).content.decode()
    assert '"look"' in stream


def test_the_result_of_a_tool_is_answered_with_no_further_call(sandbox):
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    chat = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "[tool] here"},
    ]
    result = [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "[tool] here"}]}]
    response = {"functionResponse": {"name": "look", "response": {"it": "[tool] here"}}}
    output = {"type": "function_call_output", "call_id": "1", "output": "[tool] here"}
    for speaker, field, more, text in (
        (CHAT, "messages", chat, "here"),
        (RESPONSES, "input", [output], "here"),
        (MESSAGES, "messages", [{"role": "user", "content": result}], "here"),
        (GEMINI, "contents", [{"parts": [response]}], '{"it": " here"}'),
    ):
        body = speaker.body("a fox [tool]") | speaker.tools
        before = body[field] if isinstance(body[field], list) else [{"role": "user", "content": body[field]}]
        answer = speaker.post(sandbox, body | {field: before + more}).json()
        assert speaker.told(answer)[0].split() == text.split(), field


def test_pictures_are_counted_and_several_answers_are_paid_for(sandbox):
    link = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    text = {"type": "text", "text": "a fox"}
    chat = CHAT.post(sandbox, CHAT.body("x") | {"messages": [{"role": "user", "content": [text, link]}], "n": 2}).json()
    assert (len(chat["choices"]), CHAT.told(chat)[2:]) == (2, (2 + 258, 0, 4))
    parts = [{"text": "a fox"}, {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]
    body = {"contents": [{"parts": parts}], "generation_config": {"candidate_count": 2}}
    gemini = GEMINI.post(sandbox, body).json()
    assert (len(gemini["candidates"]), GEMINI.told(gemini)[2:]) == (2, (2 + 258, 0, 4))


def test_usage_ends_a_chat_only_where_it_was_asked_for(sandbox):
    silent, told = (
        CHAT.frames(CHAT.ask(sandbox, f"a fox{word}", is_stream=True, stream_options={"include_usage": wanted}).content)
        for word, wanted in (("", False), ("", True))
    )
    assert not any("usage" in frame for frame in silent)
    *others, last = told
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 4)
    assert {frame["usage"] for frame in others} == {None}


def test_without_the_query_gemini_streams_one_array(sandbox):
    answer = GEMINI.post(sandbox, GEMINI.body("a fox"), path=f"{MODEL}streamGenerateContent")
    assert answer.headers["content-type"] == "application/json"
    assert [GEMINI.said(piece) for piece in answer.json()] == ["a", " fox", ""]
    broken = GEMINI.post(sandbox, GEMINI.body("a fox [stream:overloaded]"), path=f"{MODEL}streamGenerateContent")
    assert [next(iter(piece)) for piece in broken.json()] == ["candidates", "candidates", "error"]


def test_refusals_have_the_protocols_words_and_buy_nothing(sandbox):
    for word, status, expected in (
        ("[moderated]", 400, ("invalid_prompt", "invalid_prompt", "invalid_request_error", None)),
        (
            "[rate-limited]",
            429,
            ("rate_limit_exceeded", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"),
        ),
        ("[overloaded]", 503, ("server_is_overloaded", "server_is_overloaded", "overloaded_error", "UNAVAILABLE")),
        ("[status=500]", 500, ("server_error", "server_error", "api_error", "INTERNAL")),
        ("[fail]", 400, (None, None, "invalid_request_error", "INVALID_ARGUMENT")),
    ):
        for (name, speaker), kind in zip(SPEAKERS.items(), expected, strict=True):
            answer = speaker.ask(sandbox, f"a fox {word}", is_stream=True)
            if name == "gemini" and word == "[moderated]":  # a success, in this protocol
                assert answer.json()["promptFeedback"]
                continue
            error = answer.json()["error"]
            assert answer.status_code == (529 if kind == "overloaded_error" else status), (name, word)
            field = {"messages": "type", "gemini": "status"}.get(name, "code")
            assert (error[field], bool(error["message"])) == (kind, True), (name, word)
            assert ("retry-after" in answer.headers) == (status == 429), (name, word)
    assert sandbox.audit()["jobs"] == 0


@every
def test_keys_and_bodies_are_refused(sandbox, name):
    speaker = SPEAKERS[name]
    good = speaker.body("a fox")
    google = name == "gemini"
    for key, status in (("", 403 if google else 401), ("wrong", 400 if google else 401)):
        assert speaker.post(sandbox, good, key=key).status_code == status, key
    assert speaker.post(sandbox, good, key="broke").status_code == (402 if name == "messages" else 429)
    unknown = good | {} if google else good | {"model": "no-such-model"}
    path = speaker.path.replace("org/some", "no-such-model")
    assert speaker.post(sandbox, unknown, path=path).status_code == 404
    for wrong in ([], {**good, "bogus": 1}, {"model": "m"}, {**good, "stream": "yes"}):
        assert speaker.post(sandbox, wrong).status_code == 400, wrong
    assert sandbox.audit()["jobs"] == 0


def test_anthropic_demands_a_version_and_takes_either_header(sandbox):
    url, body = sandbox.url + MESSAGES.path, MESSAGES.body("a fox")
    for headers, status in (
        ({"x-api-key": "any"}, 400),
        ({"x-api-key": "any", "anthropic-version": "1999-01-01"}, 400),
        ({"authorization": "Bearer any", "anthropic-version": "2026-10-21"}, 200),
    ):
        answer = requests.post(url, json=body, headers=headers, timeout=PATIENCE)
        assert (answer.status_code, bool(answer.headers["request-id"])) == (status, True), headers


@every
def test_a_stream_is_cut_in_its_middle(sandbox, name):
    speaker = SPEAKERS[name]
    whole = speaker.ask(sandbox, "a fox in snow", is_stream=True).content
    for word in ("[cut]", "[stream:garbage]", "[stream:fail]"):
        content = speaker.ask(sandbox, f"a fox in snow {word}", is_stream=True).content
        assert 0 < len(content) < len(whole) + 500, word
        assert TERMINALS[name] not in content, word
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        assert speaker.ask(sandbox, "a fox in snow [stream:reset]", is_stream=True).content
    assert sandbox.audit()["jobs"] == 5


@every
def test_a_stream_may_begin_with_an_error_and_nothing_is_bought_then(sandbox, name):
    speaker = SPEAKERS[name]
    answers = [speaker.ask(sandbox, "a fox [error-first=1]", is_stream=True) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content.startswith(FIRST_FRAMES[name])
    assert TERMINALS[name] in answers[1].content
    assert sandbox.audit()["by_prompt"] == {"a fox [error-first=1]": 1}


@every
def test_frames_are_sent_at_once_and_a_client_that_leaves_is_noticed(sandbox, name):
    speaker, prompt = SPEAKERS[name], "a fox in snow [stream:held]"
    left, stays = (speaker.ask(sandbox, prompt, is_stream=True) for _ in range(2))
    pieces = stays.iter_content(None)
    assert b"data: " in next(pieces)
    left.close()
    audit = wait_until(lambda: (found := sandbox.audit())["left"] and found)
    assert (audit["by_prompt"], audit["left_by_prompt"]) == ({prompt: 2}, {prompt: 1})
    sandbox.release()
    assert TERMINALS[name] in b"".join(pieces)
    assert sandbox.audit()["left"] == 1


def test_whoever_leaves_before_the_first_byte_is_noticed_too(client, sandbox):
    with client.sent("POST", CHAT.path, CHAT.body("a fox [hang]")):
        wait_until(lambda: sandbox.audit()["jobs"] == 1)
        assert sandbox.audit()["left"] == 0
    wait_until(lambda: sandbox.audit()["left_by_prompt"] == {"a fox [hang]": 1})


def test_tokens_are_counted_for_nothing(sandbox):
    counted = MESSAGES.post(
        sandbox, {**CHAT.body("a fox in"), "system": "be brief"}, path=MESSAGES.path + "/count_tokens"
    )
    assert counted.json() == {"input_tokens": 5}
    body = {"generateContentRequest": {"model": "models/m", **GEMINI.body("a fox in")}}
    assert GEMINI.post(sandbox, body, path=f"{MODEL}countTokens").json()["totalTokens"] == 3
    assert (sandbox.audit()["jobs"], sandbox.audit()["calls"]) == (0, {"count": 2})
