"""What opens an installation of `make run`: keys, and the operator's password, in a file of their own."""

import json
import os
import secrets
import urllib.error
import urllib.request
from collections.abc import Collection
from pathlib import Path

from tools.stack import Stack

GENERAL_KEYS = {"text": "OpenAI", "claude": "Anthropic", "gemini": "Google"}
"""Groups of the example catalog, and whose packages call them."""


def opens(stack: Stack, key: str) -> bool:
    """Whether this database knows the key, and all that it is for: the file of logins may be older than either."""
    request = urllib.request.Request(f"{stack.base_url}/v1/videos", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=20):
            return True
    except urllib.error.HTTPError as error:
        return error.code not in (401, 403)


def logins(stack: Stack, file: Path, groups: Collection[str], history: dict[str, str]) -> dict[str, str]:
    """The keys and the admin password, made once and kept in a file that only its owner may read. There is a general
    key for each of these groups; `history` are the keys of a history that was just made."""
    kept: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    if not (kept.keys() >= {"key", *groups} and opens(stack, kept["key"])):
        kept = {}
    made = (kept or new_logins(stack, groups)) | history
    if made != kept:
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
            json.dump(made, output)
    return made


def new_logins(stack: Stack, groups: Collection[str]) -> dict[str, str]:
    """An account with money, its keys, and an operator."""
    name = f"run-{secrets.token_hex(3)}"
    password = secrets.token_urlsafe(12)
    _, _, *made = stack.manage_each(
        ("create_account", name, "--credit", "100"),
        ("createsuperuser", "--noinput", f"--username={name}", f"--email={name}@localhost.invalid"),
        ("create_key", name, "--videos", "--json"),
        *(
            ("create_key", name, "--name", group, "--binding", "general", "--group", group, "--json")
            for group in groups
        ),
        DJANGO_SUPERUSER_PASSWORD=password,
    )
    keys = [str(json.loads(answer)["key"]) for answer in made]
    return {"username": name, "password": password, **dict(zip(("key", *groups), keys, strict=True))}
