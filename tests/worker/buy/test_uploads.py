"""An uploaded first frame on its way to a provider: as a file where the protocol sends files, else by its URL."""

import pytest

from tests.rows import make_channel, make_model, make_route
from tests.tasks import steps
from tests.tasks.assets.test_uploads import body
from tests.worker.driving import call, loaded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("root")]


def test_a_form_has_the_file_itself(shift, key, plan, sandbox):
    channel = make_channel("films", "openai_videos", f"{sandbox.url}/openai/v1", options={"poll_seconds": 0.2})
    model = make_model("comet-video", "video", plan=plan, prices={"*": "0.1"})
    make_route(plan, model, channel, upstream_model="sora-2")
    task_id = steps.submitted(key, body())
    assert shift.work(task_id) == "succeeded"  # the sandbox takes nothing but a picture in a file
    assert sandbox.audit()["jobs"] == 1


@pytest.mark.usefixtures("video_model")
def test_json_has_its_signed_url(shift, key, sandbox):
    task_id = steps.submitted(key, body())
    (claimed,) = shift.claim()
    first, frame = loaded(claimed).upstream.body["content"]
    assert (first["type"], frame["role"]) == ("text", "first_frame")
    assert f"/assets/{task_id}/input-0.png?expires=" in frame["image_url"]["url"]
    shift.run([claimed])
    assert call(task_id).state == "accepted"
