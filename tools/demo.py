"""`make demo`: the service on free ports with a database of its own; a picture, a film and the bill through HTTP.

Prints each step as the event stream and the callbacks tell it, and last how to look at all that in a browser: the
demo's own service ends with it. Exit code 0 means that both files are on disk, both callbacks verified, and the ledger
check confirms the bill.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from tools import write_env
from tools.children import PATIENCE, ChildFailed, free_port
from tools.listening import CallbackReceiver, EventStream
from tools.stack import CATALOG, LISTENS, ROOT, Stack

CREDIT = "5.00"
LIVE = ("queued", "running")
FILMS = "/ark/api/v3\n"
FASTER_FILMS = f"{FILMS}    options: {{poll_seconds: 1}}\n"  # a real provider's films take minutes, these a second
EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "video/mp4": "mp4"}


class DemoFailed(Exception):
    """A step went another way than it should; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The few HTTP calls of a client, with its key."""

    base_url: str
    key: str

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[bytes, Mapping[str, str]]:
        """The body and the headers of a 2xx answer. Raises DemoFailed."""
        request = urllib.request.Request(
            f"{self.base_url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode(errors="replace")
            raise DemoFailed(f"{method} {path} answered {error.code}: {said}") from error
        except OSError as error:
            raise DemoFailed(f"{method} {path}: {error}") from error

    def json(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        return json.loads(self.call(method, path, body, **headers)[0])


def say(line: str = "") -> None:
    print(line, flush=True)


def dollars(amount: float | None) -> str:
    """Four decimals, or six where the last two count."""
    return "–" if amount is None else f"${amount:.6f}".removesuffix("00")


def environment(folder: Path) -> dict[str, str]:
    """The caller's settings, on a free port and with database and files in `folder`."""
    port = str(free_port())
    return {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{folder / 'darkroom.sqlite3'}",
        "ASSET_STORAGE": f"file://{folder / 'assets'}",
        "HOST": "127.0.0.1",
        "PORT": port,
        "PUBLIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "OUTBOUND_ALLOW_NETWORKS": "127.0.0.0/8",  # the demo's own receiver of callbacks
        "DEBUG": "false",
    }


def start(stack: Stack) -> Client:
    """Database, provider, catalog, account, key and processes; what need not wait for another goes on beside it."""
    sandbox = stack.begin_sandbox(free_port())
    catalog = stack.folder / "catalog.yaml"
    catalog.write_text(CATALOG.read_text(encoding="utf-8").replace(FILMS, FASTER_FILMS), encoding="utf-8")
    *_, made = stack.manage_each(
        ("migrate", "--noinput"),
        ("load_catalog", str(catalog)),
        ("create_account", "demo", "--credit", CREDIT),
        ("create_key", "demo", "--json"),
        SANDBOX_URL=sandbox.url,
    )
    stack.start_service()
    sandbox.wait_for_line(LISTENS)
    say(f"sandbox, web and worker are up; account demo has {dollars(float(CREDIT))} and a Task key")
    return Client(base_url=stack.base_url, key=json.loads(made)["key"])


def submissions(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One image and one video request for whatever models this key is offered."""
    offered: dict[str, dict[str, Any]] = {}
    for model in models:
        offered.setdefault(model["modality"], model)
    if missing := {"image", "video"} - offered.keys():
        raise DemoFailed(f"the catalog offers no {' and no '.join(sorted(missing))} model")
    resolutions = [tier for tier in offered["video"]["pricing"]["prices"] if tier != "*"]
    return [
        {
            "model": offered["image"]["id"],
            "modality": "image",
            "params": {"prompt": "A lighthouse at dawn, drawn by the sandbox"},
        },
        {
            "model": offered["video"]["id"],
            "modality": "video",
            "params": {
                "prompt": "Waves roll towards the lighthouse",
                "duration": 5,
                "resolution": resolutions[0] if resolutions else "720p",
                "aspect_ratio": "16:9",
            },
        },
    ]


def submit(client: Client, body: dict[str, Any], callback_url: str) -> dict[str, Any]:
    headers = {"Idempotency-Key": f"demo-{body['modality']}"}
    task: dict[str, Any] = client.json("POST", "/v1/tasks", {**body, "callback_url": callback_url}, **headers)
    say(f"{body['modality']:5}  {task['id']}  {task['status']}, reserved {dollars(task['estimated_cost'])}")
    return task


def follow(stream: EventStream, tasks: list[dict[str, Any]]) -> None:
    """Print each event of the stream until every task has ended."""
    live = {task["id"] for task in tasks}
    deadline = time.monotonic() + PATIENCE
    while live:
        event = stream.next(deadline - time.monotonic()) if time.monotonic() < deadline else None
        if event is None:
            raise DemoFailed(f"after {PATIENCE:g} s the event stream has not told the end of {sorted(live)[0]}")
        say(f"{event['modality']:5}  {event['id']}  event: {event['status']}")
        if event["status"] not in LIVE:
            live.discard(event["id"])


def called_back(receiver: CallbackReceiver, tasks: list[dict[str, Any]]) -> None:
    """Wait for the verified callback of every task."""
    for _ in tasks:
        callback = receiver.next(PATIENCE)
        if callback is None:
            raise DemoFailed(f"after {PATIENCE:g} s a callback with a genuine signature has not come")
        modality = callback["data"]["task"]["modality"]
        say(f"{modality:5}  callback {callback['id']}: {callback['type']}, signature verified")


def save(client: Client, task: dict[str, Any], folder: Path) -> None:
    """Every asset of a succeeded task. Raises DemoFailed."""
    if task["status"] != "succeeded":
        raise DemoFailed(f"{task['id']} ended as {task['status']}: {task['error']}")
    for asset in task["assets"]:
        content, headers = client.call("GET", f"/v1/tasks/{task['id']}/assets/{asset['index']}")
        extension = EXTENSIONS.get(headers["Content-Type"].partition(";")[0], "bin")
        file = folder / f"{task['modality']}-{asset['index']}.{extension}"
        file.write_bytes(content)
        say(f"{task['modality']:5}  saved {file} ({len(content):,} bytes)")


def bill(stack: Stack, tasks: list[dict[str, Any]]) -> None:
    """What was reserved and charged, the balance before and after, and the verdict of the ledger check. Raises
    ChildFailed where it found a breach."""
    accounts, verdict = stack.manage_each(("dumpdata", "accounts.account"), ("check_ledger",))
    account = json.loads(accounts)[0]["fields"]
    say("\nThe bill")
    for task in tasks:
        costs = f"estimated {dollars(task['estimated_cost'])}, charged {dollars(task['actual_cost'])}"
        say(f"  {task['modality']:5} {task['model']}: {costs}")
    after, held = (account[name] / 1_000_000 for name in ("balance_micros", "held_micros"))
    say(f"  balance before {dollars(float(CREDIT))}, after {dollars(after)}, held {dollars(held)}")
    say(f"  check_ledger: {verdict.strip()}")


def tell(stack: Stack, output: Path) -> None:
    client = start(stack)
    stream, receiver = EventStream(client.base_url, client.key), CallbackReceiver(client.key)
    models = client.json("GET", "/v1/tasks/models")["data"]
    submitted = [submit(client, body, receiver.url) for body in submissions(models)]
    follow(stream, submitted)
    called_back(receiver, submitted)
    tasks = [client.json("GET", f"/v1/tasks/{task['id']}") for task in submitted]
    output.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        save(client, task, output)
    bill(stack, tasks)


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "demo-output", help="where the files go")
    output = parser.parse_args().output
    write_env.write()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    with tempfile.TemporaryDirectory(prefix="darkroom-demo-") as name:
        stack = Stack(environment=environment(Path(name)), folder=Path(name))
        try:
            tell(stack, output)
        except (ChildFailed, DemoFailed) as error:
            say(f"\nThe demo failed: {error}")
            for child in stack.children:
                say(f"\nThe last lines of {child.name}:\n{child.tail()}")
            return 1
        finally:
            stack.stop()
    say(f"\nDone. To make and see more in a browser: make run, then open {settings.PUBLIC_BASE_URL}/console/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
