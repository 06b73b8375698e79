"""Environments of the peers: one for each under bench/.peers/, made when it is first needed, never in the product's."""

import subprocess
import sys
from pathlib import Path

from bench.model import Missing

FOLDER = Path(__file__).parent / ".peers"
LONGEST_INSTALL = 300


def python(name: str, *requirements: str) -> Path:
    """The interpreter of the peer's environment with exactly these requirements. Raises Missing with the name."""
    home = FOLDER / name
    interpreter, stamp = home / "bin" / "python", home / ".installed"
    wanted = "\n".join(requirements)
    if stamp.exists() and stamp.read_text() == wanted:
        return interpreter
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True, capture_output=True)
        install = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        subprocess.run(install, check=True, capture_output=True, timeout=LONGEST_INSTALL)
    except (subprocess.SubprocessError, OSError) as error:
        raise Missing(name) from error
    stamp.write_text(wanted)
    return interpreter
