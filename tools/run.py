"""`make run`: the whole service on this machine until Ctrl-C, with its console and a key for it, an admin login and a
first request to try."""

import argparse
import json
import os
import secrets
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NoReturn

from django.conf import settings

from tools import write_env
from tools.children import ChildFailed
from tools.stack import CATALOG, ROOT, Stack

FIRST_TASK = {
    "model": "aurora-image",
    "modality": "image",
    "params": {"prompt": "a lighthouse at dawn", "image_size": "1K", "aspect_ratio": "16:9"},
}
GENERAL_KEYS = {"text": "OpenAI", "claude": "Anthropic", "gemini": "Google"}
"""Groups of the example catalog, and whose packages call them."""
HISTORY_KEY = "Northlight Studio/web"
HAS_TASKS = 3


def interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def opens(stack: Stack, key: str) -> bool:
    """Whether this database knows the key, and all that it is for: the file of logins may be older than either."""
    request = urllib.request.Request(f"{stack.base_url}/v1/videos", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=20):
            return True
    except urllib.error.HTTPError as error:
        return error.code not in (401, 403)


def logins(stack: Stack, file: Path, history: dict[str, str]) -> dict[str, str]:
    """The keys and the admin password, made once and kept in a file that only its owner may read. `history` are the
    keys of a history that was just made."""
    kept: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    if not (kept.keys() >= GENERAL_KEYS.keys() and opens(stack, kept["key"])):
        kept = {}
    made = (kept or new_logins(stack)) | history
    if made != kept:
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
            json.dump(made, output)
    return made


def new_logins(stack: Stack) -> dict[str, str]:
    """An account with money, its keys, and an operator."""
    name = f"run-{secrets.token_hex(3)}"
    password = secrets.token_urlsafe(12)
    stack.manage("create_account", name, "--credit", "100")
    made = {
        "key": stack.manage_json("create_key", name, "--videos")["key"],
        "username": name,
        "password": password,
        **{group: general_key(stack, name, group) for group in GENERAL_KEYS},
    }
    stack.manage(
        "createsuperuser",
        "--noinput",
        f"--username={name}",
        f"--email={name}@localhost.invalid",
        DJANGO_SUPERUSER_PASSWORD=password,
    )
    return made


def general_key(stack: Stack, account: str, group: str) -> str:
    """The secret of a new key of a group."""
    made = stack.manage_json("create_key", account, "--name", group, "--binding", "general", "--group", group)
    return str(made["key"])


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


def start(stack: Stack, sandbox_port: int, seed: int | None = None) -> dict[str, str]:
    """Database, catalog and processes, in the order in which they need each other; history where it has a number."""
    stack.manage("migrate", "--noinput")
    sandbox = stack.start_sandbox(sandbox_port)
    stack.manage("load_catalog", str(CATALOG), SANDBOX_URL=sandbox.url)
    history = {} if seed is None else seeded(stack, seed, sandbox.url)
    stack.start_web()
    stack.start_worker()
    return logins(stack, stack.folder / "logins.json", history)


def welcome(made: dict[str, str], logs: Path) -> str:
    """Where to look, and what opens it: the console and its key come first."""
    url = settings.PUBLIC_BASE_URL
    general = "\n".join(f"    {vendor:<9}  {made[group]}" for group, vendor in GENERAL_KEYS.items())
    history = f"\n  With history  {made['history']}" if "history" in made else ""
    return f"""
Darkroom is running at {url} (Ctrl-C stops it; logs in {logs}).

  Console    {url}/console/  open it, and sign in with the key:
  Task key   {made["key"]}{history}

  Reference  {url}/docs/
  Admin      {url}/admin/  user {made["username"]}  password {made["password"]}
  General keys, for text with the packages of others (docs/companion.md)
{general}

  curl {url}/v1/tasks \\
    -H 'Authorization: Bearer {made["key"]}' -H 'Content-Type: application/json' \\
    -d '{json.dumps(FIRST_TASK)}'
"""


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "var/run", help="for logs and logins")
    parser.add_argument("--sandbox-port", type=int, default=8900, help="where the built-in provider listens")
    parser.add_argument("--seed", type=int, metavar="N", help="first fill it with a month of history of this number")
    options = parser.parse_args()
    write_env.write()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell started this in the background, deaf to SIGINT
        signal.signal(number, interrupt)
    options.folder.mkdir(parents=True, exist_ok=True)
    place = {"HOST": settings.HOST, "PORT": str(settings.PORT)}
    stack = Stack(environment={**os.environ, **place}, folder=options.folder)
    try:
        print("Starting…", flush=True)
        print(welcome(start(stack, options.sandbox_port, options.seed), options.folder), flush=True)
        while all(child.is_running for child in stack.children):
            time.sleep(0.5)
        ended = next(child for child in stack.children if not child.is_running)
        raise ChildFailed(f"{ended.name} ended with {ended.process.returncode}:\n{ended.tail()}")
    except KeyboardInterrupt:
        print("Stopping…", flush=True)
        return 0
    except ChildFailed as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        stack.stop()


if __name__ == "__main__":
    sys.exit(main())
