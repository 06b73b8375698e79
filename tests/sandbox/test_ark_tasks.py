"""The Ark video protocol over a socket."""

import io
from dataclasses import replace

import av
import pytest
from PIL import Image

from tests.sandbox.conftest import TASKS

FRAME = {"type": "image_url", "image_url": {"url": "https://cdn.example/a.png"}}
FIRST, LAST, REFERENCE = ({**FRAME, "role": role} for role in ("first_frame", "last_frame", "reference_image"))
CLIP = {"type": "video_url", "video_url": {"url": "https://cdn.example/a.mp4"}, "role": "reference_video"}
SOUND = {"type": "audio_url", "audio_url": {"url": "https://cdn.example/a.mp3"}, "role": "reference_audio"}


def error_of(response):
    error = response.json()["error"]
    assert error.keys() == {"code", "message", "param", "type"}
    assert response.headers["x-request-id"]
    return error


def test_a_job_runs_until_it_is_a_film(client, sandbox):
    asked = {"duration": 4, "ratio": "9:16", "resolution": "1080p"}
    queued, held = (client.video(word, **asked).json()["id"] for word in ("[queued=99999]", "[held]"))
    assert [client.poll(job).json()["status"] for job in (queued, held)] == ["queued", "running"]
    sandbox.release()
    shown = client.poll(held).json()
    assert (shown["status"], shown["id"], shown["model"]) == ("succeeded", held, "seedance")
    assert (shown["duration"], shown["resolution"], shown["ratio"]) == (4, "1080p", "9:16")
    assert shown["updated_at"] >= shown["created_at"]
    assert shown["usage"]["completion_tokens"] > 0


def test_the_video_url_gives_the_asked_film_without_a_key(client, sandbox):
    """With sound unless that is switched off."""
    for fields, has_sound in (({}, True), ({"generate_audio": False}, False)):
        shown = client.finished("a fox", duration=7, ratio="3:4", **fields)
        assert shown["content"].keys() == {"video_url"}
        assert shown["content"]["video_url"].startswith(sandbox.url + "/")
        response = client.get(shown["content"]["video_url"])
        assert response.headers["content-type"] == "video/mp4"
        with av.open(io.BytesIO(response.content)) as container:
            assert container.duration / 1_000_000 == pytest.approx(7, abs=0.1)
            assert container.streams.video[0].width < container.streams.video[0].height
            assert bool(container.streams.audio) is has_sound


def test_the_last_frame_is_a_picture_if_asked(client):
    shown = client.finished("a fox", return_last_frame=True, ratio="1:1")
    picture = client.get(shown["content"]["last_frame_url"])
    assert picture.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(picture.content)).size == (240, 240)


def test_a_list_finds_jobs_by_repeated_or_comma_separated_ids(client):
    jobs = [client.video(f"fox {number}").json()["id"] for number in range(3)]
    for query in ([jobs[0], jobs[2]], f"{jobs[0]},{jobs[2]}", [jobs[0], jobs[2], "cgt-unknown"]):
        answer = client.poll(**{"filter.task_ids": query, "page_size": 100}).json()
        assert {item["id"] for item in answer["items"]} == {jobs[0], jobs[2]}
        assert answer["total"] == 2


def test_a_list_is_paged_newest_first(client):
    jobs = [client.video(f"fox {number}").json()["id"] for number in range(12)]
    first, second = (client.poll(page_num=page, page_size=8).json() for page in (1, 2))
    assert [item["id"] for item in first["items"] + second["items"]] == jobs[::-1]
    assert first["total"] == 12
    assert len(client.poll().json()["items"]) == 10


def test_a_list_is_filtered_by_status(client):
    done, waiting = client.finished("a fox")["id"], client.video("a fox [queued=99999]").json()["id"]
    for status, job in (("succeeded", done), ("queued", waiting)):
        assert [item["id"] for item in client.poll(**{"filter.status": status}).json()["items"]] == [job]


def test_a_bad_page_is_refused(client):
    for query in ({"page_num": 0}, {"page_size": 501}, {"page_size": "many"}):
        response = client.poll(**query)
        assert (response.status_code, error_of(response)["code"]) == (400, "InvalidParameter"), query


def test_delete_cancels_a_queued_job(client, sandbox):
    job = client.video("a fox [queued=99999]").json()["id"]
    assert client.delete(job).status_code == 200
    assert client.poll(job).json()["status"] == "cancelled"
    assert (sandbox.audit()["canceled"], sandbox.audit()["open"]) == (1, 0)


def test_delete_refuses_for_a_running_job(client):
    job = client.video("a fox [held]").json()["id"]
    assert client.poll(job).json()["status"] == "running"
    assert (client.delete(job).status_code, client.poll(job).json()["status"]) == (409, "running")


def test_delete_forgets_an_ended_job(client):
    job = client.finished("a fox")["id"]
    assert client.delete(job).status_code == 200
    for response in (client.poll(job), client.delete(job)):
        assert (response.status_code, error_of(response)["code"]) == (404, "ResourceNotFound")


def test_a_bad_field_is_refused_by_name_and_buys_nothing(client, sandbox):
    for fields, param in (
        ({"duration": 0}, "duration"),
        ({"duration": -1}, "duration"),
        ({"duration": 86_401}, "duration"),
        ({"duration": 5.0}, "duration"),
        ({"duration": True}, "duration"),
        ({"resolution": "8k"}, "resolution"),
        ({"ratio": "5:4"}, "ratio"),
        ({"generate_audio": "yes"}, "generate_audio"),
        ({"execution_expires_after": 60}, "execution_expires_after"),
        ({"aspect_ratio": "16:9"}, "aspect_ratio"),
        ({"content": "a fox"}, "content"),
        ({"content": []}, "content"),
        ({"content": [{"type": "text"}]}, "content[0].text"),
        ({"content": [{"type": "smell"}]}, "content[0].type"),
        ({"content": [{**FRAME, "role": "reference_video"}]}, "content[0].role"),
        ({"content": [{**FRAME, "image_url": {"url": "file:///etc/passwd"}}]}, "content[0].image_url.url"),
        ({"content": [{**CLIP, "video_url": {"url": "data:video/mp4;base64,AA"}}]}, "content[0].video_url.url"),
        ({"model": ""}, "model"),
    ):
        response = client.video("a fox", **fields)
        assert (response.status_code, error_of(response)["param"]) == (400, param), fields
    assert sandbox.audit()["jobs"] == 0


def test_only_the_media_combinations_of_the_provider_are_taken(client):
    for media in ((FRAME,), (FIRST, LAST), (REFERENCE, CLIP, SOUND), (CLIP,), (CLIP, SOUND)):
        assert client.video("a fox", media=media).status_code == 200, media
    for media in ((LAST,), (FIRST, REFERENCE), (FIRST, FIRST), (SOUND,), (FIRST, SOUND)):
        assert client.video("a fox", media=media).status_code == 400, media


def test_a_body_that_is_no_json_object_is_refused(client):
    for body in (b"", b"{", b"[]", b"\xff"):
        response = client.call("POST", TASKS, data=body)
        assert (response.status_code, error_of(response)["code"]) == (400, "InvalidParameter"), body


def test_keys_and_models_are_refused_in_the_protocols_words(client):
    wrong, broke = (replace(client, key=key).video("a fox") for key in ("wrong", "broke"))
    unknown = client.video("a fox", model="no-such-model")
    assert (wrong.status_code, error_of(wrong)["code"]) == (401, "AuthenticationError")
    assert (broke.status_code, error_of(broke)["code"]) == (403, "AccountOverdueError")
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "InvalidEndpointOrModel.NotFound")
    assert replace(client, key="wrong").poll().status_code == 401
