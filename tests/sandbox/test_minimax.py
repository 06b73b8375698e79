"""MiniMax's video generation V2: jobs in one batch, what can be cancelled, and how strict the sandbox is."""

import pytest

from adapters.base import Done, ErrorKind
from tests.adapters.ark.test_minimax import AUDIO, FIRST, IMAGE, LAST, VIDEO
from tests.sandbox.driving import check_keys

FORM = {"resolution": "768p"}
TEXT = {"type": "text", "text": "a fox"}
GOOD = {"model": "MiniMax-H3", "content": [TEXT], "resolution": "768P", "duration": 5, "ratio": "16:9"}


@pytest.fixture
def minimax(caller):
    return caller("ark_content_tasks", "/minimax", "video", "MiniMax-H3", options={"dialect": "minimax_v2"})


def test_jobs_are_made_in_one_batch_and_a_film_delivered(minimax):
    forms = ({}, {"inputs": (FIRST, LAST), "aspect_ratio": "adaptive"}, {"inputs": (IMAGE, VIDEO, AUDIO)})
    states = minimax.ended(*(minimax.handle(**FORM, **form) for form in forms))
    assert all(isinstance(state, Done) and state.duration == 5.0 for state in states)
    film = minimax.film(states[0])
    assert (round(film.seconds), film.has_sound) == (5, True)


def test_a_queued_job_is_cancelled_and_a_running_one_is_not(minimax):
    queued, running = (minimax.handle(prompt=word, **FORM) for word in ("[queued=99999]", "[held]"))
    assert [minimax.speaks.cancel(job, minimax.connection) for job in (queued, running)] == [True, False]
    assert minimax.ended(queued).kind is ErrorKind.PROVIDER_FAILED
    assert minimax.ended({"id": "unknown"}).kind is ErrorKind.EMPTY_RESULT


def test_keys_are_told_apart(minimax):
    check_keys(minimax, **FORM)


def test_a_bad_field_is_refused_and_buys_nothing(minimax):
    for wrong in (
        {"resolution": "768p"},
        {"duration": "5"},
        {"duration": 16},
        {"ratio": "adaptive"},
        {"generate_audio": True},
        {"content": []},
        {"content": [TEXT, {"type": "image_url", "image_url": {"url": "https://x/a"}, "role": "last_frame"}]},
        {"content": [TEXT, {"type": "audio_url", "audio_url": {"url": "https://x/a"}, "role": "reference_audio"}]},
        {"model": "no-such-model"},
    ):
        answer = minimax.post("/v2/video_generation", GOOD | wrong)
        assert answer.status_code == 400, wrong
        assert answer.json()["error"]["message"].endswith("(2013)"), wrong
    assert minimax.bought() == 0
