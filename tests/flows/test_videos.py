"""Films as OpenAI's SDK asks for them, through the whole installation."""

import openai
import pytest

from tests.flows.conftest import new_name
from tests.storage.samples import picture
from tools.children import PATIENCE

# OpenAI's own service ends; the shape stays.
pytestmark = pytest.mark.filterwarnings("ignore:The Sora API:DeprecationWarning")


@pytest.fixture
def sdk(service):
    with openai.OpenAI(base_url=f"{service.stack.base_url}/v1", api_key=service.key, timeout=PATIENCE) as client:
        yield client


def test_the_sdk_makes_a_film_of_a_picture_and_takes_it_home(service, sdk):
    prompt = new_name("a fox runs")
    film = sdk.videos.create_and_poll(
        model="comet-video", prompt=prompt, seconds="2", input_reference=picture("PNG"), poll_interval_ms=100
    )
    assert (film.status, film.progress, film.seconds, film.size) == ("completed", 100, "2", "1280x720")
    content = sdk.videos.download_content(film.id).content
    task = service.client.get(f"/v1/tasks/task_{film.id.removeprefix('video_')}").json()
    assert (task["status"], task["actual_cost"], task["assets"][0]["size_bytes"]) == ("succeeded", 0.2, len(content))
    part = service.client.get(f"/v1/videos/{film.id}/content", headers={"Range": "bytes=4-11"})
    assert (part.status_code, part.content) == (206, content[4:12])
    assert service.client.head(f"/v1/videos/{film.id}/content").headers["Content-Length"] == str(len(content))
    assert film.id in [each.id for each in sdk.videos.list(limit=1)]


def test_the_sdk_deletes_a_film_and_then_it_is_gone(service, sdk):
    film = sdk.videos.create_and_poll(model="comet-video", prompt=new_name("a fox"), seconds="2", poll_interval_ms=100)
    gone = sdk.videos.delete(film.id)
    assert (gone.id, gone.deleted, gone.object) == (film.id, True, "video.deleted")
    with pytest.raises(openai.APIStatusError) as raised:
        sdk.videos.download_content(film.id)
    assert (raised.value.status_code, raised.value.type) == (410, "TASK_ASSET_EXPIRED")


def test_a_repeated_request_is_the_same_film_and_errors_are_the_sdks_own(service, sdk):
    named = {"Idempotency-Key": new_name("film")}
    asked = {"model": "comet-video", "prompt": new_name("a fox"), "extra_headers": named}
    first = sdk.videos.with_raw_response.create(**asked)
    again = sdk.videos.with_raw_response.create(**asked)
    assert first.parse().id == again.parse().id
    assert again.headers["Idempotency-Replayed"] == "true"
    assert first.headers["openai-poll-after-ms"] == "1000"
    assert first.headers["request-id"] == first.headers["x-request-id"]
    with pytest.raises(openai.BadRequestError) as raised:
        sdk.videos.create(model="comet-video", prompt="a fox", seconds="many")
    assert (raised.value.type, raised.value.param) == ("TASK_INVALID_REQUEST", "seconds")
    with pytest.raises(openai.NotFoundError):
        sdk.with_options(api_key=service.other_key).videos.retrieve(first.parse().id)
