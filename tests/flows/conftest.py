"""One running installation for all flows of a test process: two web processes, worker, sandbox, two accounts."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.databases import Databases
from tests.processes import Client, TestStack
from tools.children import wait_until

CATALOG = """
version: 1
models:
  - name: aurora-image
    modality: image
    aliases: [aurora]
    default_plan: standard
    pricing: {mode: image_matrix, prices: {"1K": 0.04, "2K": 0.08}}
    params:
      image_size: {values: ["1K", "2K"], default: "1K"}
      aspect_ratio: {values: ["1:1", "16:9"], default: "1:1"}
      n: {max: 4}
      images: {max: 4}
  - name: comet-video
    modality: video
    default_plan: standard
    pricing: {mode: video_duration, prices: {"720p": 0.10, "*": 0.20}}
channels:
  - name: studio
    adapter: openai_images
    base_url: SANDBOX/openai/v1
    credentials: {api_key: CREDENTIAL}
    models: [{model: aurora-image, modality: image, upstream_model: gpt-image-2}]
  - name: cinema
    adapter: ark_content_tasks
    base_url: SANDBOX/ark/api/v3
    credentials: {api_key: CREDENTIAL}
    options: {poll_seconds: 0.2}
    models: [{model: comet-video, modality: video, upstream_model: seedance-2-0}]
plans:
  - name: standard
    routes:
      - {model: aurora-image, modality: image, channel: studio}
      - {model: comet-video, modality: video, channel: cinema}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The stack with its catalog loaded, the secrets of two keys, and clients that send them."""

    stack: TestStack
    sandbox_url: str
    credential: str
    key: str
    other_key: str

    @property
    def client(self) -> Client:
        return self.stack.client(self.key)

    @property
    def other_client(self) -> Client:
        return self.stack.client(self.other_key)

    def load_catalog(self, old: str = "", new: str = "") -> None:
        """The catalog as it always is, or with one thing changed."""
        text = CATALOG.replace("SANDBOX", self.sandbox_url).replace("CREDENTIAL", self.credential)
        self.stack.load_catalog(text.replace(old, new) if old else text)


def new_name(kind: str) -> str:
    """A name that nothing in the installation has yet: it outlives the tests, and one may run twice."""
    return f"{kind} {secrets.token_hex(4)}"


def submitted(client: Client, body: Any, **headers: str) -> str:
    """The id of a new task."""
    response = client.post("/v1/tasks", json=body, headers={n.replace("_", "-"): v for n, v in headers.items()})
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def ended(client: Client, task_id: str) -> dict[str, Any]:
    """The task once it has ended."""
    path = f"/v1/tasks/{task_id}?wait=60"
    wait_until(lambda: client.get(path).json()["finished_at"], what=f"the end of {task_id}")
    return dict(client.get(path).json())


@pytest.fixture(scope="session")
def service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two attempts for each delivery, at once. Of the session: other tests come between those of a package."""
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("flows"))
        stack.environment |= {"CALLBACK_SCHEDULE": "0,0", "DJANGO_SETTINGS_MODULE": "tests.flows.settings"}
        try:
            made = Service(
                stack=stack,
                sandbox_url=stack.start_sandbox().url,
                credential=f"credential{secrets.token_hex(12)}",
                key=stack.create_key(),
                other_key=stack.create_key(account="somebody else"),
            )
            made.load_catalog()
            stack.start_web(WEB_CONCURRENCY="2")
            stack.start_worker()
            yield made
        finally:
            stack.stop()
