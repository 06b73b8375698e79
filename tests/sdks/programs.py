"""Programs of a client, run as processes of their own with addresses and keys in their environment."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tools.children import PATIENCE


def run(folder: Path, environment: Mapping[str, str], *command: str | Path) -> list[str]:
    """The lines that a program printed, which ran in this folder and said that all went well."""
    options = {"cwd": folder, "capture_output": True, "text": True, "timeout": PATIENCE}
    variables = {"PATH": os.environ["PATH"], **environment}
    ended = subprocess.run([str(part) for part in command], env=variables, **options, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()
