"""Files behind a reverse proxy that sends them for us (ASSET_ACCEL)."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.flows import proxies
from tests.flows.conftest import Service, ended, submitted
from tests.processes import TestStack
from tools.children import PATIENCE

BODY = {"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox"}}
OURS = (
    *("content-type", "content-disposition", "cache-control", "etag", "x-content-type-options"),
    *("content-security-policy", "cross-origin-resource-policy", "referrer-policy"),
)
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The same task asked for through a proxy, and of the web process that sends bytes itself."""

    service: Service
    url: str
    task: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/v1/tasks/{self.task['id']}/assets/0"

    def get(self, **headers: str) -> requests.Response:
        named = {"Authorization": f"Bearer {self.service.key}", **{n.replace("_", "-"): v for n, v in headers.items()}}
        return requests.get(f"{self.url}{self.path}", headers=named, timeout=PATIENCE)


@pytest.fixture(scope="module")
def leaving(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestStack]:
    """A web process beside those of the service, which leaves all bytes to a proxy."""
    own = TestStack(database_url=service.stack.environment["DATABASE_URL"], folder=tmp_path_factory.mktemp("accel"))
    port = own.environment["PORT"]
    own.environment = {**service.stack.environment, "PORT": port, "ASSET_ACCEL": proxies.INTERNAL}
    own.start_web()
    yield own
    own.stop()


@pytest.fixture(params=["tiny", pytest.param("nginx", marks=pytest.mark.skipif(not NGINX, reason="no nginx"))])
def behind(request: pytest.FixtureRequest, service: Service, leaving: TestStack, tmp_path: Path) -> Iterator[Behind]:
    files = Path(service.stack.environment["ASSET_STORAGE"].removeprefix("file://"))
    port, task = int(leaving.environment["PORT"]), ended(service.client, submitted(service.client, BODY))
    with ExitStack() as stack:
        opened = proxies.tiny(port, files) if request.param == "tiny" else proxies.nginx(NGINX, port, files, tmp_path)
        yield Behind(service=service, url=stack.enter_context(opened), task=task)


def test_the_proxy_sends_the_file_with_our_headers(behind: Behind) -> None:
    direct, through = behind.service.client.get(behind.path), behind.get(X_Request_Id="asked-through-the-proxy")
    assert (through.status_code, through.content) == (200, direct.content)
    assert through.headers["content-length"] == str(len(direct.content))
    assert {name: through.headers.get(name) for name in OURS} == {name: direct.headers[name] for name in OURS}
    assert set(through.headers["accept-ranges"].split(", ")) == {"bytes"}  # nginx says it once more
    assert through.headers["x-request-id"] == "asked-through-the-proxy"
    assert "x-accel-redirect" not in through.headers


def test_refusals_and_known_versions_are_ours(behind: Behind) -> None:
    known = behind.get(If_None_Match=f'"{behind.task["assets"][0]["sha256"]}"')
    assert (known.status_code, known.content) == (304, b"")
    refused = [
        requests.get(f"{behind.url}{behind.path}", timeout=PATIENCE),
        requests.get(f"{behind.url}{behind.path}9", headers=dict(known.request.headers), timeout=PATIENCE),
        behind.get(Range="bytes=99999999-"),
    ]
    assert [answer.status_code for answer in refused] == [401, 404, 416]
    assert all("error" in answer.json() for answer in refused)


@pytest.mark.skipif(not NGINX, reason="no nginx")
@pytest.mark.parametrize("behind", ["nginx"], indirect=True)
def test_nginx_serves_ranges_and_heads_and_shows_nobody_the_folder(behind: Behind) -> None:
    whole, etag = behind.get(), f'"{behind.task["assets"][0]["sha256"]}"'
    part = behind.get(Range="bytes=1-4", If_Range=etag)
    assert (part.status_code, part.content) == (206, whole.content[1:5])
    assert part.headers["content-range"] == f"bytes 1-4/{len(whole.content)}"
    for headers in ({"Range": "bytes=1-4", "If-Range": '"older"'}, {"Range": "bytes=0-1,3-4"}):
        assert behind.get(**headers).status_code == 200
    assert behind.get(If_None_Match='"older"').status_code == 200
    head = requests.head(f"{behind.url}{behind.path}", headers=dict(whole.request.headers), timeout=PATIENCE)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(whole.content)))
    folder = Path(behind.service.stack.environment["ASSET_STORAGE"].removeprefix("file://"))
    stored = next(path for path in folder.glob("results/*/*/*") if path.read_bytes() == whole.content)
    inside = requests.get(f"{behind.url}{proxies.INTERNAL}{stored.relative_to(folder)}", timeout=PATIENCE)
    assert inside.status_code == 404
