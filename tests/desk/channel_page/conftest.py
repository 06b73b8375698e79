"""Channels that lead to a real sandbox, and an operator at the desk."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from catalog.models import Channel
from sandbox.server import Sandbox
from tests.rows import make_channel


@pytest.fixture(scope="session")
def running_sandbox() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0.0) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: Sandbox) -> Sandbox:
    running_sandbox.reset()
    return running_sandbox


@pytest.fixture
def image_channel(db: None, sandbox: Sandbox) -> Channel:
    return make_channel("studio", "openai_images", f"{sandbox.url}/openai/v1")


@pytest.fixture
def video_channel(db: None, sandbox: Sandbox) -> Channel:
    return make_channel("cinema", "ark_content_tasks", f"{sandbox.url}/ark/api/v3")


@pytest.fixture
def desk(client: Client) -> Client:
    """Signed in as one of the group `operator`."""
    user = User.objects.create_user("olga", is_staff=True)
    user.groups.add(Group.objects.get(name="operator"))
    client.force_login(user)
    return client
