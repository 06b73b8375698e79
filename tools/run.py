"""`make run`: the whole service on this machine until Ctrl-C, with its console and a key for it, an admin login and a
first request to try."""

import argparse
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings

from tools import write_env
from tools.children import ChildFailed, first_free
from tools.logins import GENERAL_KEYS, logins
from tools.stack import LISTENS, ROOT, Stack

FIRST_TASK = {
    "model": "aurora-image",
    "modality": "image",
    "params": {"prompt": "a lighthouse at dawn", "image_size": "1K", "aspect_ratio": "16:9"},
}
SANDBOX_PORT = 8900
SANDBOX_URL = f"http://127.0.0.1:{SANDBOX_PORT}"
HISTORY_KEY = "Northlight Studio/web"
HAS_TASKS = 3


def interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def seeded(stack: Stack, number: int, sandbox_url: str) -> dict[str, str]:
    """Fill an installation without tasks with a month of history; the key of it that may be tried, none where the
    installation has tasks already. Raises ChildFailed."""
    print("Writing a month of history…", flush=True)
    answer = stack.python("-m", "tools.seed", "--seed", str(number), "--sandbox-url", sandbox_url)
    if answer.returncode == HAS_TASKS:
        print(answer.stderr.strip(), flush=True)
        return {}
    if answer.returncode:
        raise ChildFailed(f"tools.seed ended with {answer.returncode}:\n{answer.stderr[-4000:]}")
    return {"history": json.loads(answer.stdout)["keys"][HISTORY_KEY]}


def offered(stack: Stack, sandbox_url: str) -> dict[str, Any]:
    """What the catalog has for a provider at this URL: an empty one gets the example, any other is left as it is, but
    for channels that lead to where the provider was the last time. Raises ChildFailed."""
    file = stack.folder / "sandbox-url"
    old = file.read_text() if file.exists() else SANDBOX_URL
    answer = stack.python("-m", "tools.example_catalog", sandbox_url, old)
    if answer.returncode:
        raise ChildFailed(f"tools.example_catalog ended with {answer.returncode}:\n{answer.stderr[-4000:]}")
    file.write_text(sandbox_url)
    offer: dict[str, Any] = json.loads(answer.stdout)
    if offer["moved"]:
        print(f"Channels that now lead to {sandbox_url}: {', '.join(offer['moved'])}", flush=True)
    return offer


def start(stack: Stack, sandbox_port: int, seed: int | None = None) -> tuple[dict[str, str], bool]:
    """Database, catalog and processes, in the order in which they need each other; history where it has a number.
    The logins, and whether the first request has its model."""
    sandbox = stack.begin_sandbox(sandbox_port)
    stack.manage("migrate", "--noinput")
    offer = offered(stack, sandbox.url)
    history = {} if seed is None else seeded(stack, seed, sandbox.url)
    stack.start_service()
    sandbox.wait_for_line(LISTENS)
    groups = [group for group in GENERAL_KEYS if group in offer["groups"]]
    return logins(stack, stack.folder / "logins.json", groups, history), FIRST_TASK["model"] in offer["models"]


def welcome(made: dict[str, str], stack: Stack, *, has_first: bool) -> str:
    """Where to look, and what opens it: the console and its key come first."""
    url = stack.environment["PUBLIC_BASE_URL"]
    general = "".join(f"\n    {vendor:<9}  {made[group]}" for group, vendor in GENERAL_KEYS.items() if group in made)
    history = f"\n  With history  {made['history']}" if "history" in made else ""
    first = f"""
  curl {url}/v1/tasks \\
    -H 'Authorization: Bearer {made["key"]}' -H 'Content-Type: application/json' \\
    -d '{json.dumps(FIRST_TASK)}'
"""
    return f"""
Darkroom is running at {url} (Ctrl-C stops it; logs in {stack.folder}).

  Console    {url}/console/  open it, and sign in with the key:
  Task key   {made["key"]}{history}

  Reference  {url}/docs/
  Admin      {url}/admin/  user {made["username"]}  password {made["password"]}
  General keys, for text with the packages of others (docs/companion.md){general or ": no group"}
{first if has_first else ""}"""


def own_port(host: str, wanted: int, url: str) -> tuple[str, str]:
    """The port that the service takes, and its address from outside. Raises ChildFailed where the port is taken and
    the address is one of the operator's own, which leads to no other."""
    port = first_free(host, wanted)
    if port == wanted:
        return str(wanted), url
    if url != f"http://127.0.0.1:{wanted}":
        raise ChildFailed(f"Port {wanted} is taken by another process. PUBLIC_BASE_URL is {url}: choose another PORT.")
    print(f"Port {wanted} is taken: the service listens on {port}.", flush=True)
    return str(port), f"http://127.0.0.1:{port}"


def provider_port(wanted: int) -> int:
    """The port of the built-in provider."""
    port = first_free("127.0.0.1", wanted)
    if wanted not in (0, port):
        print(f"Port {wanted} is taken: the built-in provider listens on {port}.", flush=True)
    return port


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """As the only `make run` with this folder. Raises ChildFailed where another one runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ChildFailed(f"`make run` is running already: {folder} is in use.") from error
        yield


def stay(stack: Stack) -> NoReturn:
    """Watch the processes until one ends. Raises ChildFailed."""
    while all(child.is_running for child in stack.children):
        time.sleep(0.5)
    ended = next(child for child in stack.children if not child.is_running)
    raise ChildFailed(f"{ended.name} ended with {ended.process.returncode}:\n{ended.tail()}")


def run(folder: Path, sandbox_port: int, seed: int | None) -> NoReturn:
    """Start everything and stay. Raises ChildFailed and KeyboardInterrupt."""
    with alone(folder):
        port, url = own_port(settings.HOST, settings.PORT, settings.PUBLIC_BASE_URL)
        place = {"HOST": settings.HOST, "PORT": port, "PUBLIC_BASE_URL": url}
        stack = Stack(environment={**os.environ, **place}, folder=folder)
        try:
            print("Starting…", flush=True)
            made, has_first = start(stack, provider_port(sandbox_port), seed)
            print(welcome(made, stack, has_first=has_first), flush=True)
            stay(stack)
        finally:
            stack.stop()


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "var/run", help="for logs and logins")
    parser.add_argument("--sandbox-port", type=int, default=SANDBOX_PORT, help="where the built-in provider listens")
    parser.add_argument("--seed", type=int, metavar="N", help="first fill it with a month of history of this number")
    options = parser.parse_args()
    write_env.write()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell started this in the background, deaf to SIGINT
        signal.signal(number, interrupt)
    try:
        run(options.folder, options.sandbox_port, options.seed)
    except KeyboardInterrupt:
        print("Stopping…", flush=True)
        return 0
    except ChildFailed as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
