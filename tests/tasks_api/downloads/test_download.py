"""`GET /v1/tasks/{id}/assets/{index}`: the bytes, for the key that made them."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ApiKey
from common.concurrency import threads
from common.http import rates
from storage import backends, blobs
from tasks.assets import lookups, retention
from tasks.models import Asset, ServiceState
from tasks_api.assets import application
from tests.rows import IssuedKey, make_key, make_task
from tests.storage.conftest import StoreAsset
from tests.storage.samples import film, picture
from tests.tasks_api.downloads.asking import Response, ask, scope, silent
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def bearer(key: IssuedKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.secret}"}


def path(asset: Asset) -> str:
    return f"/v1/tasks/{asset.task_id}/assets/{asset.position}"


def get(asset: Asset, key: IssuedKey, *, method: str = "GET", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(path(asset), method=method, headers=bearer(key) | named)


def test_the_bytes_come_with_their_type_size_and_digest(image: Asset, key: IssuedKey) -> None:
    response = get(image, key)
    assert response.status == 200
    assert response.body == picture("PNG")
    assert response.headers["content-type"] == "image/png"
    assert response.headers["content-length"] == str(len(picture("PNG")))
    assert response.headers["etag"] == f'"{image.sha256}"'
    assert response.headers["accept-ranges"] == "bytes"


def test_the_bytes_can_do_no_harm_in_a_browser(image: Asset, key: IssuedKey) -> None:
    headers = get(image, key).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["content-disposition"] == f'inline; filename="{image.task_id}-0.png"'
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("content_type", "served"), [("text/html", "application/octet-stream"), ("application/zip", "application/zip")]
)
def test_what_is_no_media_is_only_downloaded(image: Asset, key: IssuedKey, content_type: str, served: str) -> None:
    Asset.objects.update(content_type=content_type)
    headers = get(image, key).headers
    assert headers["content-disposition"].startswith("attachment; ")
    assert headers["content-type"] == served


def test_head_tells_the_same_without_the_bytes(image: Asset, key: IssuedKey) -> None:
    response = get(image, key, method="HEAD")
    assert (response.status, response.body) == (200, b"")
    assert response.headers == get(image, key).headers


def test_a_range_is_served(video: Asset, key: IssuedKey) -> None:
    response = get(video, key, Range="bytes=10-19")
    assert (response.status, response.body) == (206, film()[10:20])
    assert response.headers["content-range"] == f"bytes 10-19/{len(film())}"
    assert response.headers["content-length"] == "10"


def test_ranges_in_a_row_give_the_whole_film(video: Asset, key: IssuedKey) -> None:
    half = len(film()) // 2
    first, second = get(video, key, Range=f"bytes=0-{half - 1}"), get(video, key, Range=f"bytes={half}-")
    assert first.body + second.body == film()


def test_a_range_behind_the_end_is_416(video: Asset, key: IssuedKey) -> None:
    response = get(video, key, Range=f"bytes={len(film())}-")
    assert (response.status, response.error) == (416, "TASK_RANGE_NOT_SATISFIABLE")
    assert b'"message":"Range: ' in response.body
    assert response.headers["content-range"] == f"bytes */{len(film())}"


def test_ranges_that_are_not_served_give_the_whole_file(video: Asset, key: IssuedKey) -> None:
    response = get(video, key, Range="bytes=0-1,3-4")
    assert (response.status, response.body) == (200, film())


def test_a_range_of_an_older_version_gives_the_whole_file(video: Asset, key: IssuedKey) -> None:
    assert get(video, key, Range="bytes=0-1", If_Range='"old"').status == 200
    assert get(video, key, Range="bytes=0-1", If_Range=f'"{video.sha256}"').status == 206


def test_head_ignores_ranges(video: Asset, key: IssuedKey) -> None:
    response = get(video, key, method="HEAD", Range="bytes=0-1")
    assert (response.status, response.headers["content-length"]) == (200, str(len(film())))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_known_version_is_not_sent_again(image: Asset, key: IssuedKey, method: str) -> None:
    response = get(image, key, method=method, If_None_Match=f'W/"{image.sha256}"', Range="bytes=0-1")
    assert (response.status, response.body) == (304, b"")
    assert response.headers["etag"] == f'"{image.sha256}"'


class TestNotFound:
    """Everything that is not there for this key looks the same."""

    @pytest.fixture
    def nothing(self, key: IssuedKey) -> bytes:
        return ask("/v1/tasks/task_00000000000000000000000000/assets/0", headers=bearer(key)).body

    def test_another_accounts_asset(self, image: Asset, other_key: IssuedKey, nothing: bytes) -> None:
        response = get(image, other_key)
        assert (response.status, response.error, response.body) == (404, "TASK_NOT_FOUND", nothing)

    def test_an_asset_of_another_key_of_the_same_account(self, image: Asset, account: Any, nothing: bytes) -> None:
        response = get(image, make_key(account, "second"))
        assert (response.status, response.body) == (404, nothing)

    def test_an_expired_asset_of_another_key(self, image: Asset, other_key: IssuedKey, nothing: bytes) -> None:
        Asset.objects.update(deleted_at=timezone.now())
        assert get(image, other_key).body == nothing

    def test_no_such_index(self, image: Asset, key: IssuedKey, nothing: bytes) -> None:
        for index in ("1", "00", "-1", "+0", "0.0", "x", "٠", "99999999999999999999", "%00", "0%2F"):
            response = ask(f"/v1/tasks/{image.task_id}/assets/{index}", headers=bearer(key))
            assert (response.status, response.body) == (404, nothing), index

    def test_no_such_task(self, key: IssuedKey, nothing: bytes) -> None:
        for task in ("task_", "x", "..", "task_" + "0" * 25 + "%00", "TASK_" + "0" * 26):
            response = ask(f"/v1/tasks/{task}/assets/0", headers=bearer(key))
            assert (response.status, response.body) == (404, nothing), task

    @pytest.mark.parametrize("status", ["running", "failed"])
    def test_a_task_without_success(self, image: Asset, key: IssuedKey, nothing: bytes, status: str) -> None:
        Asset.objects.update(task=make_task(key, status))
        image.refresh_from_db()
        assert get(image, key).body == nothing


def test_without_a_key_it_is_401(image: Asset) -> None:
    response = ask(path(image))
    assert (response.status, response.error) == (401, "authentication_error")
    assert response.headers["www-authenticate"] == "Bearer"


def test_an_api_that_is_switched_off_is_503(image: Asset, key: IssuedKey) -> None:
    ServiceState.objects.update(api_disabled=True)
    response = get(image, key)
    assert (response.status, response.error) == (503, "TASK_API_DISABLED")
    assert "retry-after" in response.headers


def test_assets_are_only_read(image: Asset, key: IssuedKey) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        response = get(image, key, method=method)
        assert (response.status, response.error) == (405, "TASK_METHOD_NOT_ALLOWED"), method
        assert response.headers["allow"] == "GET, HEAD", method


def test_an_error_to_head_has_no_body(image: Asset, other_key: IssuedKey) -> None:
    response = get(image, other_key, method="HEAD")
    assert (response.status, response.body) == (404, b"")


def test_deleted_bytes_are_410(image: Asset, key: IssuedKey) -> None:
    Asset.objects.update(deleted_at=timezone.now())
    assert (get(image, key).status, get(image, key).error) == (410, "TASK_ASSET_EXPIRED")


def test_retention_holds_before_it_is_carried_out(image: Asset, key: IssuedKey, settings: Any) -> None:
    Asset.objects.update(created_at=timezone.now() - timedelta(seconds=60))
    settings.ASSET_RETENTION = 59
    assert get(image, key).status == 410
    settings.ASSET_RETENTION = 0
    assert get(image, key).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_bytes_that_vanished_are_503(image: Asset, key: IssuedKey, method: str) -> None:
    blobs.delete(image.storage_key)
    response = get(image, key, method=method)
    assert response.status == 503
    assert int(response.headers["retry-after"]) > 0
    assert method == "HEAD" or response.error == "TASK_STORAGE_UNAVAILABLE"


def test_s3_serves_the_same(s3: str, stored: StoreAsset, key: IssuedKey) -> None:
    asset = stored(film(), "video")
    assert get(asset, key).body == film()
    response = get(asset, key, Range="bytes=-7")
    assert (response.status, response.body) == (206, film()[-7:])
    assert response.headers["content-type"] == "video/mp4"
    blobs.delete(asset.storage_key)
    assert get(asset, key).error == "TASK_STORAGE_UNAVAILABLE"


class TestReadAgain:
    """A file that this process has sent some seconds ago takes no look into the database."""

    @pytest.fixture(autouse=True)
    def long_moment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lookups, "KNOWN_SECONDS", 10**9)

    @pytest.fixture
    def sent(self, image: Asset, key: IssuedKey) -> Asset:
        assert get(image, key).status == 200
        return image

    def test_what_is_sent_is_what_was_read(self, sent: Asset, key: IssuedKey) -> None:
        before = get(sent, key)
        Asset.objects.update(content_type="image/gif")
        assert get(sent, key) == before
        assert get(sent, key, Range="bytes=1-4").body == picture("PNG")[1:5]
        lookups.forget()
        assert get(sent, key).headers["content-type"] == "image/gif"

    def test_it_is_still_another_keys(self, sent: Asset, other_key: IssuedKey) -> None:
        assert get(sent, other_key).error == "TASK_NOT_FOUND"

    def test_a_key_that_was_disabled_gets_nothing(self, sent: Asset, key: IssuedKey) -> None:
        ApiKey.objects.update(disabled_at=timezone.now())
        assert get(sent, key).status == 401

    def test_bytes_that_were_deleted_are_410_at_once(self, sent: Asset, key: IssuedKey) -> None:
        retention.delete_now(key.record.pk, sent.task_id)
        assert get(sent, key).error == "TASK_ASSET_EXPIRED"

    def test_retention_ends_by_the_clock(self, image: Asset, key: IssuedKey, settings: Any) -> None:
        Asset.objects.update(created_at=timezone.now() - timedelta(seconds=60))
        settings.ASSET_RETENTION = 3_600
        assert get(image, key).status == 200
        settings.ASSET_RETENTION = 59
        assert get(image, key).error == "TASK_ASSET_EXPIRED"

    def test_bytes_that_vanished_are_503(self, sent: Asset, key: IssuedKey) -> None:
        blobs.delete(sent.storage_key)
        assert get(sent, key).error == "TASK_STORAGE_UNAVAILABLE"

    def test_what_the_client_knows_and_its_head_are_asked_of_the_database(self, sent: Asset, key: IssuedKey) -> None:
        Asset.objects.update(deleted_at=timezone.now())
        assert get(sent, key, If_None_Match=f'"{sent.sha256}"').status == 410
        assert get(sent, key, method="HEAD").status == 410


def test_bytes_that_have_to_be_waited_for_are_read_by_a_thread(
    image: Asset, key: IssuedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends.current(), "tells_what_is_cached", False)
    for _ in range(2):
        assert get(image, key).body == picture("PNG")


def test_a_small_file_comes_in_one_piece(image: Asset, key: IssuedKey) -> None:
    assert asyncio.run(pieces_of(scope(path(image), headers=bearer(key)))) == 1


async def pieces_of(request: dict[str, Any]) -> int:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await application(request, silent, send)
    return len(sent) - 1


async def leave_after(chunks: int, request: dict[str, Any]) -> int:
    """The number of chunks sent to a client that leaves after so many."""
    left, sent = asyncio.Event(), 0

    async def receive() -> dict[str, str]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal sent
        if message["type"] == "http.response.body":
            sent += 1
            if sent == chunks:
                left.set()
                await asyncio.sleep(0)

    await application(request, receive, send)
    return sent


def test_reading_stops_when_the_client_leaves(folder: Path, stored: StoreAsset, key: IssuedKey) -> None:
    asset = stored(picture("PNG") + bytes(40 * blobs.CHUNK_BYTES))
    sent = asyncio.run(leave_after(2, scope(path(asset), headers=bearer(key))))
    assert 2 <= sent < 40


async def cancel_in_the_middle(request: dict[str, Any]) -> None:
    begun = asyncio.Event()

    async def receive() -> Any:
        await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(application(request, receive, send))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_canceled_download_closes_its_file(folder: Path, stored: StoreAsset, key: IssuedKey) -> None:
    asset = stored(picture("PNG") + bytes(40 * blobs.CHUNK_BYTES))
    asyncio.run(cancel_in_the_middle(scope(path(asset), headers=bearer(key))))
    descriptors = [link.resolve() for link in Path("/proc/self/fd").iterdir() if link.exists()]
    assert folder / asset.storage_key not in descriptors


async def many_slow_readers(requests: list[dict[str, Any]]) -> int:
    """How many got their head, and did not read on, at the same time."""
    heads, all_begun = 0, asyncio.Event()

    async def receive() -> Any:
        await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        nonlocal heads
        if message["type"] == "http.response.start":
            heads += 1
            if heads == len(requests):
                all_begun.set()
        else:
            await all_begun.wait()

    await asyncio.wait_for(asyncio.gather(*(application(request, receive, send) for request in requests)), PATIENCE)
    return heads


def test_slow_readers_hold_no_thread(image: Asset, key: IssuedKey) -> None:
    requests = [scope(path(image), headers=bearer(key)) for _ in range(4 * threads.THREADS)]
    assert asyncio.run(many_slow_readers(requests)) == len(requests)


def test_downloads_count_as_requests_of_the_key(
    image: Asset, key: IssuedKey, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = {"read": 1}
    monkeypatch.setattr(rates, "WINDOW_SECONDS", 10**9)
    rates._counts.clear()
    assert get(image, key).status == 200
    refused = get(image, key)
    assert (refused.status, refused.error) == (429, "TASK_RATE_LIMITED")
    assert refused.headers["retry-after"] == refused.headers["ratelimit-reset"]
