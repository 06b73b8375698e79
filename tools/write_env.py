"""Writes a .env with random secrets if there is none. All other settings keep their defaults."""

import base64
import os
import secrets
from pathlib import Path

ENV_FILE = Path(__file__).resolve().parent.parent / ".env"


def contents() -> str:
    """Returns SECRET_KEY and one Fernet key (32 random bytes, base64)."""
    encryption_key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    return (
        "# Secrets of this installation; every other setting is described in .env.example.\n"
        f"SECRET_KEY={secrets.token_urlsafe(64)}\nENCRYPTION_KEYS={encryption_key}\n"
    )


def write(path: Path = ENV_FILE) -> bool:
    """Writes the file, readable only by its owner; False if one exists, which is never changed."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with open(descriptor, "w") as file:
        file.write(contents())
    return True


if __name__ == "__main__":
    print("Wrote .env with random secrets." if write() else ".env exists and was left unchanged.")
