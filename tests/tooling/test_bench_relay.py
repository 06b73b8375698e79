"""What the rows about relayed calls measure with: the upstream, how late frames came, and LiteLLM's configuration."""

import asyncio

import pytest
import requests
import yaml

from bench.model import Incorrect
from bench.relay import books, calls, litellm_proxy, stream_lags, upstream
from tools.children import Child
from tools.stack import PYTHON, ROOT


@pytest.fixture
def provider(tmp_path):
    command = (str(PYTHON), "-m", "bench.relay.upstream")
    child = Child("upstream", command, environment={}, log=tmp_path / "log", folder=ROOT)
    yield child.wait_for_line(r"listening on (\S+)")[1]
    child.stop()


def test_the_upstream_counts_calls_by_kind_and_sells_only_to_its_own_key(provider):
    own, foreign = ({"Authorization": f"Bearer {key}"} for key in (upstream.KEY, "dr-gen-client"))
    chat = requests.post(provider + calls.CHAT_PATH, data=calls.CHAT_BODY, headers=own).json()
    assert chat["usage"]["total_tokens"] == 284
    pictures = requests.post(provider + calls.IMAGES_PATH, data=calls.IMAGE_BODY, headers=own).json()
    assert len(pictures["data"][0]["b64_json"]) * 3 // 4 == upstream.PICTURE_BYTES
    assert requests.post(provider + calls.CHAT_PATH, data=calls.CHAT_BODY, headers=foreign).status_code == 401
    assert requests.get(f"{provider}/_/report").json() == {"chat": 1, "images": 1, "wrong key": 1}


def test_a_stream_tells_when_each_of_its_frames_was_written(provider):
    (stream,) = asyncio.run(stream_lags.wave(provider, [f"Bearer {upstream.KEY}"]))
    assert stream.has_ended_well
    written = [moment for moment, _ in stream.came()]
    assert written == sorted(written)
    assert stream.sent < written[0]
    assert len(stream.lags()["every"]) == upstream.FRAMES


def a_stream(*pieces: tuple[float, bytes]) -> stream_lags.StreamedChat:
    stream = stream_lags.StreamedChat(b"")
    stream.sent = 4.0
    stream.pieces = list(pieces)
    return stream


def test_a_frame_has_come_when_its_last_piece_is_there(monkeypatch):
    monkeypatch.setattr(stream_lags, "FRAMES", 2)
    stream = a_stream(
        (5.0, b'HTTP/1.1 200 OK\r\n\r\ndata: {"content":"@4.9'),
        (5.25, b'00"}\n\ndata: {"content": "@5.200"}\n\n'),
        (5.75, b"data: [DONE]\n\n"),
    )
    assert stream.came() == [(4.9, 5.25), (5.2, 5.25)]
    assert stream.has_ended_well
    lags = stream.lags()
    assert lags["first"] == [pytest.approx(350)]
    assert lags["gap"] == [pytest.approx(500)]


@pytest.mark.parametrize("missing", [b"data: [DONE]", b"@5.200", b"200"])
def test_a_stream_that_lacks_something_has_not_ended_well(monkeypatch, missing):
    monkeypatch.setattr(stream_lags, "FRAMES", 2)
    whole = b'HTTP/1.1 200 OK\r\n\r\n{"content":"@4.900"}{"content":"@5.200"}data: [DONE]\n\n'
    assert a_stream((5.0, whole)).has_ended_well
    assert not a_stream((5.0, whole.replace(missing, b""))).has_ended_well


def test_litellm_knows_the_upstream_and_nothing_of_ours(tmp_path):
    found = yaml.safe_load(litellm_proxy.configuration("http://127.0.0.1:9", "sk-1"))
    told = [model["litellm_params"] for model in found["model_list"]]
    assert {model["api_base"] for model in told} == {"http://127.0.0.1:9/v1"}
    assert [model["model_name"] for model in found["model_list"]] == [upstream.CHAT_MODEL, upstream.IMAGE_MODEL]
    assert found["general_settings"] == {"master_key": "sk-1"}
    assert not {"SECRET_KEY", "ENCRYPTION_KEYS", "DATABASE_URL"} & set(litellm_proxy.environment(tmp_path))


RIGHT = {"open": 0, "settled": 10, "flagged": 0, "holds": 0, "settled_holds": 10, "charges": 10, "held": 0, "astray": 0}
NOTHING = books.CallCounts(**dict.fromkeys(RIGHT, 0))


def test_a_run_is_right_where_each_answer_is_one_charge():
    books.compare(NOTHING, books.CallCounts(**RIGHT), answered=10, in_flight=0)
    books.compare(NOTHING, books.CallCounts(**RIGHT | {"flagged": 2}), answered=8, in_flight=2)


@pytest.mark.parametrize("wrong", [*({name: value + 1} for name, value in RIGHT.items())], ids=str)
def test_a_run_has_failed_where_anything_is_open_astray_or_charged_otherwise(wrong):
    with pytest.raises(Incorrect):
        books.compare(NOTHING, books.CallCounts(**RIGHT | wrong), answered=10, in_flight=0)


def test_an_answer_that_was_not_charged_fails_a_run():
    with pytest.raises(Incorrect, match="11 answers, 10 charges, 10 settled"):
        books.compare(NOTHING, books.CallCounts(**RIGHT), answered=11, in_flight=1)
