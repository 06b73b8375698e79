"""docker-compose.yml without Docker: each service's own command and environment, as processes of this machine."""

import json
import os
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.databases import Databases
from tools.children import free_port
from tools.stack import ROOT, Stack

FILE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = FILE["services"]
GIVEN = {"SECRET_KEY": os.environ["SECRET_KEY"], "ENCRYPTION_KEYS": os.environ["ENCRYPTION_KEYS"]}


def interpolated(text: str) -> str:
    """`${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Compose reads them."""
    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}", lambda m: GIVEN.get(m[1], m[2] or m[1]), text)


class Compose(Stack):
    """Runs services; only what names the container's own network and folders is replaced."""

    def __init__(self, *, database_url: str, folder: Path) -> None:
        self.ports = {"8000": str(free_port()), "8900": str(free_port())}
        self.here = {"DATABASE_URL": database_url, "ASSET_STORAGE": f"file://{folder}", "PORT": self.ports["8000"]}
        path = f"{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
        super().__init__(environment={"PATH": path, "HOST": "0.0.0.0", "PORT": self.ports["8000"]}, folder=folder)

    def run(self, name: str) -> Any:
        service = SERVICES[name]
        environment = {setting: interpolated(value) for setting, value in service["environment"].items()}
        here = {} if name == "sandbox" else self.here
        assert environment.keys() >= here.keys()
        command = [self.ports.get(word, word) for word in service["command"]]
        return self.start(name, *command, **{**environment, **here})


@pytest.fixture
def compose(postgres_url, tmp_path, tmp_path_factory):
    databases = Databases(postgres_url, tmp_path_factory.mktemp("compose"), migrated=False)
    with databases.fresh() as url:
        made = Compose(database_url=url, folder=tmp_path)
        yield made
        made.stop()
    databases.close()


def test_what_runs_the_service_has_the_settings_of_the_env_file_and_nothing_else_has():
    given = {name: service["env_file"] for name, service in SERVICES.items() if "env_file" in service}
    assert sorted(given) == ["migrate", "web", "worker"]
    assert all(files == [{"path": ".env", "required": False}] for files in given.values())


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_writes_to_its_image_or_has_a_privilege(name):
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "/tmp" in service["tmpfs"]
    assert not service.keys() & {"privileged", "cap_add", "devices", "pid", "ipc", "network_mode"}
    assert service.get("user") == ("postgres" if name == "postgres" else None)  # ours runs as the user of its image
    assert "USER darkroom" in (ROOT / "Dockerfile").read_text()


def test_each_container_has_the_secrets_volumes_and_networks_that_it_needs():
    secrets = {
        name: set(re.findall(r"\$\{(\w+):\?", json.dumps(each["environment"]))) for name, each in SERVICES.items()
    }
    ours = {"SECRET_KEY", "ENCRYPTION_KEYS", "POSTGRES_PASSWORD"}
    assert secrets == {
        "postgres": {"POSTGRES_PASSWORD"},
        "migrate": ours,
        "web": ours,
        "worker": ours,
        "sandbox": set(),
    }
    volumes = {
        name: [each.partition(":")[0] for each in service.get("volumes", ())] for name, service in SERVICES.items()
    }
    assert volumes == {
        "postgres": ["database"],
        "migrate": [],
        "web": ["assets", "spool"],
        "worker": ["assets", "spool"],
        "sandbox": [],
    }
    assert {name for name, service in SERVICES.items() if "database" in service["networks"]} == SERVICES.keys() - {
        "sandbox"
    }
    assert FILE["networks"]["database"] == {"internal": True}


def test_the_folders_of_volumes_belong_to_the_user_of_the_image():
    made = re.search(r"chown darkroom (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {volume.split(":")[1] for volume in SERVICES["web"]["volumes"]} == set(made[1].split())


def is_left_out(path: str) -> bool:
    """Whether `.dockerignore` keeps a file out of the image: the last pattern that matches decides."""
    verdict = False
    for pattern in (ROOT / ".dockerignore").read_text().split():
        bare = pattern.lstrip("!").removeprefix("**/")
        if fnmatch(path if "/" in bare else path.rsplit("/", 1)[-1], bare):
            verdict = not pattern.startswith("!")
    return verdict


@pytest.mark.parametrize("path", [".env", ".env.local", ".env.production", ".envrc", ".env~", "deploy/.env.staging"])
def test_no_file_of_secrets_enters_the_image(path):
    assert is_left_out(path)


@pytest.mark.parametrize("path", [".env.example", "manage.py", "config/settings.py"])
def test_what_the_image_needs_enters_it(path):
    assert not is_left_out(path)


def test_every_image_of_others_is_named_by_its_digest():
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    images = [service["image"] for service in SERVICES.values() if service["image"] != "darkroom"]
    assert bases
    assert images
    assert [name for name in [*bases, *images] if not re.search(r"@sha256:[0-9a-f]{64}$", name)] == []


@pytest.mark.slow
@pytest.mark.once
def test_the_services_come_up_in_their_order_are_ready_and_end_without_a_kill(compose):
    assert compose.run("migrate").wait() == 0
    sandbox = compose.run("sandbox")
    workers = [compose.run("worker") for _ in range(SERVICES["worker"]["deploy"]["replicas"])]
    web = compose.run("web")
    web.wait_for_http(f"{compose.base_url}/healthz")
    web.wait_for_http(f"{compose.base_url}/readyz")
    sandbox.wait_for_line(f"sandbox listening on http://0.0.0.0:{compose.ports['8900']}")
    for worker in workers:
        worker.wait_for_line(r"worker \w+ starts")
    for child in (web, *workers):
        child.terminate()
    assert [child.wait() for child in (web, *workers)] == [0, 0, 0]


def test_the_image_starts_what_the_web_service_starts():
    command = re.search(r"^CMD (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert json.loads(command[1]) == SERVICES["web"]["command"]


def test_every_service_waits_for_the_migration_and_the_migration_for_the_database():
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in ("web", "worker"):
        assert SERVICES[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}


def test_no_secret_has_a_default_in_the_file():
    text = (ROOT / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "POSTGRES_PASSWORD"):
        assert set(re.findall(rf"\$\{{{name}(.{{2}})", text)) == {":?"}
