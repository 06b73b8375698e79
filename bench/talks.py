"""A child process that answers each line with a line."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.model import Incorrect


class Talk:
    """One such process. Raises Incorrect if it ends instead of answering."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self.process = process
        self.log = log

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def heard(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise Incorrect(f"a process ended early: {self.log.read_text()[-300:]}")
        return line

    def ask(self, line: str) -> str:
        self.tell(line)
        return self.heard()


@contextmanager
def talking(command: Sequence[str], *, folder: Path, environment: Mapping[str, str], log: Path) -> Iterator[Talk]:
    """Starts the process, and kills it at the end of the block. Its error output goes to the log."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield Talk(process, log)
    finally:
        process.kill()
        process.communicate()
