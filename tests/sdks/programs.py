"""Programs of a client, run as processes of their own with the address and the key in their environment."""

import os
import subprocess
from pathlib import Path

from tests.sdks.conftest import Shop
from tools.children import PATIENCE


def run(shop: Shop, folder: Path, *command: str | Path) -> list[str]:
    """The lines that a program printed, which ran in this folder and said that all went well."""
    environment = {"PATH": os.environ["PATH"], "OPENAI_BASE_URL": shop.base_url, "OPENAI_API_KEY": shop.key}
    options = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "timeout": PATIENCE}
    ended = subprocess.run([str(part) for part in command], **options, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()
