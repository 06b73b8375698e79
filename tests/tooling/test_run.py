"""`make run` beside what is there already: other listeners, another catalog, another `make run`."""

import re
import signal
import socket
import sqlite3
from contextlib import closing

import pytest
import requests

from catalog import connections, credentials
from catalog.file.load import load
from catalog.models import Channel, MediaModel, Plan
from tests.tooling.test_demo import ENVIRONMENT
from tools import example_catalog, run
from tools.children import PATIENCE, Child, ChildFailed, first_free, free_port
from tools.stack import PYTHON

OLD, NEW = "http://127.0.0.1:8900", "http://127.0.0.1:8911"
OWN = """
version: 1
channels:
  - {name: own, adapter: openai_images, base_url: "http://127.0.0.1:89/openai/v1", credentials: {api_key: mine}}
"""


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", free_port())) as listening:
        yield listening.getsockname()[1]


def test_a_taken_port_is_passed_over_for_the_next_that_is_free(listener):
    assert first_free("127.0.0.1", listener) > listener
    free = free_port()
    assert first_free("127.0.0.1", free) == free
    assert first_free("127.0.0.1", 0) > 0


def test_the_address_of_the_service_follows_its_port(listener, capsys):
    port, url = run.own_port("127.0.0.1", listener, f"http://127.0.0.1:{listener}")
    assert url == f"http://127.0.0.1:{port}" != f"http://127.0.0.1:{listener}"
    assert f"Port {listener} is taken: the service listens on {port}." in capsys.readouterr().out


def test_an_address_of_the_operators_own_keeps_its_port_or_is_told_of(listener):
    with pytest.raises(ChildFailed, match=f"Port {listener} is taken.*PUBLIC_BASE_URL is https://media.example"):
        run.own_port("127.0.0.1", listener, "https://media.example")
    free = free_port()
    assert run.own_port("127.0.0.1", free, "https://media.example") == (str(free), "https://media.example")


def test_one_folder_is_for_one_run(tmp_path):
    with run.alone(tmp_path), pytest.raises(ChildFailed, match="running already"), run.alone(tmp_path):
        pass
    with run.alone(tmp_path):
        pass


@pytest.mark.django_db
def test_an_empty_catalog_gets_the_example_once():
    first = example_catalog.offer(OLD)
    assert (first.loaded, first.moved, first.groups) == (True, [], ["claude", "gemini", "text"])
    MediaModel.objects.filter(name="aurora-image").update(enabled=False)
    assert not example_catalog.offer(OLD, OLD).loaded
    assert not MediaModel.objects.get(name="aurora-image").enabled


@pytest.mark.django_db
@pytest.mark.parametrize("there", ["a plan", "a channel"])
def test_a_catalog_that_has_anything_is_left_alone(there):
    if there == "a plan":
        Plan.objects.create(name="own")
    else:
        load(OWN)
    assert not example_catalog.offer(OLD, OLD).loaded
    assert not MediaModel.objects.exists()


@pytest.mark.django_db
def test_the_channels_of_the_provider_follow_it_with_their_credentials_and_no_other_does():
    example_catalog.offer(OLD)
    load(OWN)
    moved = example_catalog.offer(NEW, OLD).moved
    assert moved == ["cinema", "claude-1", "gemini-1", "studio", "text-main"]
    for channel in Channel.objects.filter(name__in=moved):
        assert channel.base_url.startswith(f"{NEW}/")
        (current,) = credentials.current(channel.pk)
        assert (current.origin, connections.opened(current).values) == (NEW, {"api_key": "sandbox"})
    own = Channel.objects.get(name="own")
    assert own.base_url == "http://127.0.0.1:89/openai/v1"
    assert [row.origin for row in credentials.current(own.pk)] == ["http://127.0.0.1:89"]


@pytest.mark.slow
@pytest.mark.once
def test_a_second_run_finds_other_ports_and_leaves_the_catalog_as_it_was_changed(tmp_path):
    database = tmp_path / "run.sqlite3"
    environment = {
        **ENVIRONMENT,
        "DATABASE_URL": f"sqlite:///{database}",
        "ASSET_STORAGE": f"file://{tmp_path / 'assets'}",
        "PORT": str(free_port()),
    }
    provider = free_port()
    taken = [int(environment["PORT"]), provider]
    for ports in ((), taken):
        sockets = [socket.create_server(("127.0.0.1", port)) for port in ports]
        log = tmp_path / f"run-{len(ports)}.log"
        command = [str(PYTHON), "-m", "tools.run", "--folder", str(tmp_path), "--sandbox-port", str(provider)]
        child = Child("run", command, environment=environment, log=log)
        try:
            url, key = child.wait_for_line(r"Console +(\S+)/console/  .*\n  Task key +(\S+)").groups()
            assert [int(port) for port in re.findall(r"Port (\d+) is taken", child.text())] == [*ports]
            made = requests.post(
                f"{url}/v1/tasks",
                json={"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox"}},
                headers={"Authorization": f"Bearer {key}", "Prefer": "wait=60"},
                timeout=PATIENCE,
            ).json()
            assert (made["status"], made["actual_cost"]) == ("succeeded", 0.05 if ports else 0.04), made
            child.send(signal.SIGINT)
            assert child.wait() == 0
        finally:
            child.stop()
            for listening in sockets:
                listening.close()
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE catalog_mediamodel SET prices = replace(prices, '0.04', '0.05')")
