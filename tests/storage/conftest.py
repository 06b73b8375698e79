"""A storage of each kind, and assets of succeeded tasks in it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.files.storage import storages
from moto.server import ThreadedMotoServer

from config.settings import asset_storage
from tasks.assets import assets
from tasks.models import Asset
from tests.rows import IssuedKey, make_task
from tests.storage.samples import film, picture

BUCKET = "darkroom-tests"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}

StoreAsset = Callable[..., Asset]


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """A real S3 server on loopback, with our bucket."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    client.create_bucket(Bucket=BUCKET)
    yield endpoint
    server.stop()


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """File storage in a folder of the test's own, which does not exist yet."""
    root = tmp_path / "assets"
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(f"file://{root}")}
    return root


@pytest.fixture(scope="session")
def s3_backends() -> dict[str, Any]:
    return {}


@pytest.fixture
def s3(s3_endpoint: str, s3_backends: dict[str, Any], settings: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """S3 storage under a prefix; the value is the server's address."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    url = f"s3://{BUCKET}/studio?endpoint={s3_endpoint}&region=us-east-1"
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(url)}
    # A change of the settings forgets the client, and a new one takes a second.
    storages._storages["assets"] = s3_backends.setdefault(url, storages["assets"])
    return s3_endpoint


@pytest.fixture(params=["folder", "s3"])
def any_storage(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(request.param)


@pytest.fixture
def stored(key: IssuedKey) -> StoreAsset:
    """Stores content as the only asset of a new succeeded task of `key`, or of `owner`."""

    def store(content: bytes, kind: str = "image", *, owner: IssuedKey = key, **fields: Any) -> Asset:
        made = assets.store([content], kind=kind)
        values = {name: getattr(made, name) for name in made.__slots__}
        return Asset.objects.create(task=make_task(owner), position=0, **{**values, **fields})

    return store


@pytest.fixture
def image(folder: Path, stored: StoreAsset) -> Asset:
    """A PNG of 64×48 in file storage."""
    return stored(picture("PNG"))


@pytest.fixture
def video(folder: Path, stored: StoreAsset) -> Asset:
    """An MP4 of two seconds in file storage."""
    return stored(film(), "video")
