"""What a success leaves: files, the operator's cost, flags; and inputs on their way to the provider."""

import base64

import pytest
from django.utils import timezone

from catalog.models import ChannelModel
from sandbox.ark.tasks import result
from tasks.assets import assets as domain_assets
from tasks.assets import signed_urls, uploads
from tasks.assets.signed_urls import Grant
from tasks.models import Asset, Task, TaskPayload
from tests.adapters.raw_server import answer, raw_server
from tests.storage import samples
from tests.worker.driving import assets, call, film, loaded, outage, picture, task

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]


PNG = samples.picture("PNG")
DATA_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


def set_cost(modality, cost):
    offer = ChannelModel.objects.get(model__modality=modality)
    offer.cost = cost
    offer.save()


def test_the_operators_own_cost_of_images_is_noted_and_not_billed(shift, key):
    set_cost("image", {"1K": 0.011, "2K": 0.5})
    task_id = picture(key, "a fox", n=3)
    shift.work(task_id)
    assert call(task_id).cost_micros == 33_000
    assert task(task_id).actual_micros == 120_000


def test_the_operators_own_cost_of_a_film_counts_its_billed_seconds(shift, key):
    set_cost("video", {"*": 0.03})
    task_id = film(key, "a fox runs [partial]", duration=4)
    shift.work(task_id)
    assert call(task_id).cost_micros == 60_000


def test_a_result_that_could_not_be_copied_still_cost_the_operator(shift, key):
    set_cost("video", {"*": 0.03})
    task_id = film(key, "a fox runs [download:garbage]")
    shift.work(task_id)
    assert (call(task_id).state, call(task_id).cost_micros) == ("done", 60_000)


def test_a_plain_success_has_no_flags_and_without_a_known_cost_none_is_noted(shift, key):
    task_id = film(key, "a fox runs")
    shift.work(task_id)
    assert call(task_id).outcome == {"kind": "succeeded", "delivered": 1, "flags": []}
    assert (call(task_id).cost_micros, call(task_id).mismatch) == (None, "")


def test_a_picture_that_is_stored_at_once_is_finished_with_its_end(shift, key):
    task_id = picture(key, "a fox")
    shift.work(task_id)
    assert call(task_id).created_at < call(task_id).finished_at <= call(task_id).ended_at


def finished(monkeypatch, duration):
    """Make the provider report another length than it delivers."""
    monkeypatch.setattr("adapters.ark.videos.seconds_of", lambda value: duration)


def test_a_file_of_another_length_than_billed_is_flagged_and_billed_as_reported(shift, key, monkeypatch):
    finished(monkeypatch, 3.0)
    task_id = film(key, "a fox runs")
    shift.work(task_id)
    assert task(task_id).actual_micros == 300_000
    assert (
        call(task_id).mismatch
        == "duration: asked 2 s, billed 3 s, reported 3 s; duration: billed 3 s, the file has 2 s"
    )


def test_an_absurd_reported_length_is_flagged_and_billed_as_asked(shift, key, monkeypatch):
    finished(monkeypatch, 500.0)
    task_id = film(key, "a fox runs")
    shift.work(task_id)
    assert task(task_id).actual_micros == 200_000
    assert call(task_id).mismatch == "duration: asked 2 s, billed 2 s, reported 500 s"


def test_what_the_provider_says_of_itself_is_compared_with_the_bill(shift, key, monkeypatch):
    told = {"resolution": "1080p", "generate_audio": True}
    monkeypatch.setattr("sandbox.ark.tasks.result", lambda job, origin: result(job, origin) | told)
    task_id = film(key, "a fox runs")
    shift.work(task_id)
    assert call(task_id).mismatch == "sound: billed without, reported with; resolution: billed 720p, reported 1080p"
    assert task(task_id).actual_micros == 200_000


def test_a_picture_of_another_size_than_billed_is_flagged(shift, key, monkeypatch):
    monkeypatch.setattr("sandbox.pictures.Picture.render", lambda _: samples.picture("PNG", 4096, 4096))
    task_id = picture(key, "a fox")
    shift.work(task_id)
    assert call(task_id).mismatch == "size: billed 1K, the file has 4096x4096"


def test_the_last_frame_that_was_asked_for_is_an_image_beside_the_film(shift, key):
    task_id = film(key, "a fox runs", provider_options={"return_last_frame": True})
    shift.work(task_id)
    assert [(asset.kind, asset.content_type) for asset in assets(task_id)] == [
        ("video", "video/mp4"),
        ("image", "image/png"),
    ]
    assert task(task_id).actual_micros == 200_000


def test_a_lost_last_frame_does_not_cost_the_film(shift, key, sandbox):
    task_id = film(key, "a fox runs", provider_options={"return_last_frame": True})
    shift.execute()
    path = f"/files/{call(task_id).handle['id']}-1.png"
    outage(sandbox, path=path, status=404, times=100)
    assert shift.work(task_id) == "succeeded"
    assert [asset.kind for asset in assets(task_id)] == ["video"]
    assert len(call(task_id).outcome["flags"]) == 1


def test_a_lost_film_is_not_replaced_by_its_last_frame(shift, key, sandbox):
    task_id = film(key, "a fox runs", provider_options={"return_last_frame": True})
    shift.execute()
    path = f"/files/{call(task_id).handle['id']}-0.mp4"
    outage(sandbox, path=path, status=410, times=100)
    assert shift.work(task_id) == "TASK_UPSTREAM_ERROR"
    assert assets(task_id) == []


def test_data_urls_go_to_the_provider_as_files(shift, key, sandbox):
    task_id = picture(key, "a fox like these", images=[{"image_url": DATA_URL}, {"image_url": DATA_URL}])
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["by_prompt"] == {"a fox like these": 1}


def test_reference_images_are_fetched_through_the_outbound_door(shift, key, loopback_allowed):
    with raw_server(answer(PNG, headers={"Content-Type": "image/png"})) as server:
        task_id = picture(key, "a fox like this", images=[{"image_url": f"{server.url}/dot.png"}])
        assert shift.work(task_id) == "succeeded"
    assert len(server.requests) == 1
    assert b"uthorization" not in server.requests[0]


def test_a_reference_image_that_cannot_be_fetched_is_tried_once_more(shift, key, sandbox, loopback_allowed):
    with raw_server(answer(status="404 Not Found"), answer(PNG)) as server:
        task_id = picture(key, "a fox like this", images=[{"image_url": f"{server.url}/dot.png"}])
        assert shift.work(task_id) == "succeeded"


def test_a_reference_image_that_never_comes_fails_the_task_unpaid(shift, key, sandbox, loopback_allowed):
    with raw_server(answer(status="404 Not Found")) as server:
        task_id = picture(key, "a fox like this", images=[{"image_url": f"{server.url}/dot.png"}])
        assert shift.work(task_id) == "TASK_INPUT_UNREACHABLE"
    assert len(server.requests) == 2
    assert sandbox.audit()["jobs"] == 0
    assert server.url not in str(task(task_id).error)


def test_a_reference_image_at_a_private_address_is_not_fetched(shift, key, sandbox, settings, loopback_allowed):
    with raw_server(answer(PNG)) as server:
        task_id = picture(key, "a fox like this", images=[{"image_url": f"{server.url}/dot.png"}])
        settings.OUTBOUND_ALLOW_NETWORKS = ()
        assert shift.work(task_id) == "TASK_INPUT_UNREACHABLE"
    assert server.requests == []


def test_an_own_image_becomes_the_first_frame_under_a_url_of_the_film(shift, key):
    first = picture(key, "a fox")
    shift.work(first)
    frame = {"type": "image", "role": "first_frame", "url": f"asset:{first}/0"}
    task_id = film(key, "the fox runs", inputs=[frame])
    (claimed,) = shift.claim()
    sent = loaded(claimed).upstream.body["content"][1]["image_url"]["url"]
    assert f"/assets/{task_id}/input-0.png?expires=" in sent
    shift.run([claimed])
    assert shift.work(task_id) == "succeeded"
    assert Task.objects.get(id=task_id).input_bytes == 0


def test_an_own_film_is_fetched_by_its_url_while_the_next_one_is_made(shift, key):
    first = film(key, "a fox")
    shift.work(first)
    task_id = film(key, "it runs", inputs=[{"type": "video", "role": "reference", "url": f"asset:{first}/0"}])
    (claimed,) = shift.claim()
    sent = loaded(claimed).upstream.body["content"][1]["video_url"]["url"]
    asset, _ = uploads.find(task_id, 0)
    assert f"/assets/{task_id}/input-0.mp4?expires=" in sent
    assert asset.storage_key == Asset.objects.get(task_id=first).storage_key


def test_a_result_that_was_referred_to_is_a_reference_image_without_any_download(shift, key, sandbox):
    first = picture(key, "a fox")
    shift.work(first)
    assert shift.work(picture(key, "this fox", images=[{"image_url": f"asset:{first}/0"}])) == "succeeded"
    assert sandbox.audit()["jobs"] == 2


def test_a_result_that_was_deleted_since_fails_the_task_that_refers_to_it(shift, key, sandbox):
    first = picture(key, "a fox")
    shift.work(first)
    task_id = picture(key, "this fox", images=[{"image_url": f"asset:{first}/0"}])
    Asset.objects.update(deleted_at=timezone.now())
    assert shift.work(task_id) == "TASK_INPUT_UNREACHABLE"
    assert sandbox.audit()["jobs"] == 1


def test_an_own_image_is_a_reference_image_without_any_download(shift, key, sandbox):
    first = picture(key, "a fox")
    shift.work(first)
    task_id = picture(key, "this fox", images=[{"image_url": domain_assets.input_url(first, 0)}])
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 2


def test_an_own_image_is_an_input_by_its_url_in_s3_and_outlives_that_url(s3, shift, key):
    first = picture(key, "a fox")
    shift.work(first)
    url = domain_assets.input_url(first, 0)
    assert url.startswith(s3)  # a private address, which no foreign URL may have
    assert shift.work(picture(key, "this fox", images=[{"image_url": url}])) == "succeeded"
    task_id = film(key, "the fox runs", inputs=[{"type": "image", "role": "first_frame", "url": f"asset:{first}/0"}])
    payload = TaskPayload.objects.get(task_id=task_id)
    (kept,) = payload.params["inputs"]  # as of a task that was queued before references were
    expired = signed_urls.mint(Grant(task_id=first, index=0, expires=1), "png")
    payload.params["inputs"] = [{"type": kept["type"], "role": kept["role"], "url": expired}]
    payload.save()
    (claimed,) = shift.claim()
    sent = loaded(claimed).upstream.body["content"][1]["image_url"]["url"]
    assert sent.startswith(s3)


def test_an_own_image_stays_an_address_where_a_channel_takes_no_data_urls(shift, key):
    first = picture(key, "a fox")
    shift.work(first)
    mapping = ChannelModel.objects.get(model__modality="image")
    mapping.capabilities = {"data_url": False}
    mapping.save()
    own = [{"image_url": domain_assets.input_url(first, 0)}, {"image_url": f"asset:{first}/0"}]
    picture(key, "this fox", images=own)
    (claimed,) = shift.claim()
    assert [signed_urls.parse_own(part.image.url) for part in loaded(claimed).upstream.files] == [(first, 0)] * 2


def test_an_own_image_that_is_gone_fails_the_task_unpaid(shift, key, sandbox):
    first = picture(key, "a fox")
    shift.work(first)
    task_id = film(key, "the fox runs", inputs=[{"type": "image", "role": "first_frame", "url": f"asset:{first}/0"}])
    assets(first)[0].delete()
    assert shift.work(task_id) == "TASK_INPUT_UNREACHABLE"
    assert sandbox.audit()["jobs"] == 1
