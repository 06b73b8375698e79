"""Environments of the peers below bench/.peers/, each created when first needed, apart from the product's."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.model import Missing

FOLDER = Path(__file__).parent / ".peers"
LONGEST_INSTALL = 300
YIELDING = ("nice", "-n", "19")


def python(name: str, *requirements: str) -> Path:
    """Returns the interpreter of the peer's environment with exactly these requirements. Raises Missing with the
    name."""
    home = FOLDER / name
    interpreter, stamp = home / "bin" / "python", home / ".installed"
    wanted = "\n".join(requirements)
    if stamp.exists() and stamp.read_text() == wanted:
        return interpreter
    try:
        venv = [*YIELDING, sys.executable, "-m", "venv", "--clear", str(home)]
        subprocess.run(venv, check=True, capture_output=True)
        pip = [*YIELDING, str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], check=True, capture_output=True, timeout=LONGEST_INSTALL)
    except (subprocess.SubprocessError, OSError) as error:
        raise Missing(name) from error
    stamp.write_text(wanted)
    return interpreter


class Preparation:
    """Creates environments, by name and requirements, while rows run that are compared with nothing."""

    def __init__(self, wanted: Mapping[str, Sequence[str]]) -> None:
        self._thread = threading.Thread(target=self._prepare, args=(wanted,), name="peers", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        self._thread.join()

    def _prepare(self, wanted: Mapping[str, Sequence[str]]) -> None:
        for name, requirements in wanted.items():
            with contextlib.suppress(Missing):  # the row that needs it will report it
                python(name, *requirements)
