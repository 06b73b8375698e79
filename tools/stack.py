"""The processes of an installation on this machine: sandbox, web and workers, and the commands that set it up."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.children import PATIENCE, Child, ChildFailed

ROOT = Path(__file__).resolve().parent.parent
PYTHON = Path(sys.executable)
CATALOG = ROOT / "catalog.example.yaml"
CONFIGURED = ("-c", "config/gunicorn.py")
MANAGE = (str(PYTHON), str(ROOT / "manage.py"))
GUNICORN = (str(PYTHON.with_name("gunicorn")), *CONFIGURED)
LISTENS = r"sandbox listening on (http://\S+)"
WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104


class Stack:
    """Processes that share one environment; `folder` takes their logs. Start them, then `stop` them all.

    Another checkout than this one is named with its `root` and the `python` of its environment.
    """

    def __init__(
        self, *, environment: Mapping[str, str], folder: Path, root: Path = ROOT, python: Path = PYTHON
    ) -> None:
        self.environment = {"PYTHONUNBUFFERED": "1", **environment}
        self.folder = folder
        self.root = root
        self._manage = (str(python), str(root / "manage.py"))
        self._gunicorn = (str(python.with_name("gunicorn")), *CONFIGURED)
        self.children: list[Child] = []

    @property
    def base_url(self) -> str:
        host = self.environment["HOST"]
        return f"http://{'127.0.0.1' if host in WILDCARDS else host}:{self.environment['PORT']}"

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of this tree to its end, whatever its exit code."""
        return subprocess.run(
            [self._manage[0], *arguments],
            env={**self.environment, **environment},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def manage(self, *arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a management command to its end. Raises ChildFailed for an exit code other than 0, unless told not to."""
        answer = self.python(*self._manage[1:], *arguments, **environment)
        if check and answer.returncode:
            said = f"{answer.stdout}{answer.stderr}"[-4000:]
            raise ChildFailed(f"manage.py {arguments[0]} ended with {answer.returncode}:\n{said}")
        return answer

    def manage_each(self, *commands: Sequence[str], **environment: str) -> list[str]:
        """Run management commands in one process, one after the other; what each printed. Raises ChildFailed."""
        answer = self.python("-m", "tools.commands", json.dumps(commands), **environment)
        said = [json.loads(line) for line in answer.stdout.splitlines()]
        if answer.returncode:
            failed = commands[len(said)][0]
            raise ChildFailed(f"manage.py {failed} ended with {answer.returncode}:\n{answer.stderr[-4000:]}")
        return said

    def manage_json(self, *arguments: str) -> Any:
        """What a command prints with --json. Raises ChildFailed."""
        return json.loads(self.manage(*arguments, "--json").stdout)

    def load_catalog(self, text: str) -> subprocess.CompletedProcess[str]:
        file = self.folder / "catalog.yaml"
        file.write_text(text)
        return self.manage("load_catalog", str(file))

    def start(self, name: str, *command: str, **environment: str) -> Child:
        """Start a process; its log is `<name>.log`, or `<name>-2.log` and so on."""
        count = sum(child.log.name.startswith(name) for child in self.children)
        log = self.folder / (f"{name}-{count + 1}.log" if count else f"{name}.log")
        child = Child(name, command, environment={**self.environment, **environment}, log=log, folder=self.root)
        self.children.append(child)
        return child

    def begin_web(self, **environment: str) -> Child:
        """The web process, which may not answer yet."""
        web = self.start("web", *self._gunicorn, **environment)
        web.url = self.base_url
        return web

    def start_web(self, **environment: str) -> Child:
        """The web process, once it answers. Raises ChildFailed."""
        web = self.begin_web(**environment)
        web.wait_for_http(f"{web.url}/healthz")
        return web

    def start_worker(self, *arguments: str, **environment: str) -> Child:
        """A worker process; it may take a moment until it claims."""
        return self.start("worker", *self._manage, "run_worker", *arguments, **environment)

    def begin_sandbox(self, port: int) -> Child:
        """The built-in provider on this port, where it may not answer yet."""
        sandbox = self.start("sandbox", *self._manage, "run_sandbox", "--port", str(port))
        sandbox.url = f"http://127.0.0.1:{port}"
        return sandbox

    def start_sandbox(self, port: int = 0) -> Child:
        """The built-in provider, once it answers; its origin is in `url`. Port 0 takes a free one. Raises
        ChildFailed."""
        sandbox = self.begin_sandbox(port)
        sandbox.url = sandbox.wait_for_line(LISTENS)[1]
        return sandbox

    def start_service(self) -> None:
        """Web and worker side by side, once the web process answers. Raises ChildFailed."""
        web = self.begin_web()
        self.start_worker()
        web.wait_for_http(f"{web.url}/healthz")

    def stop(self) -> None:
        """Stop every process, the last started first."""
        for child in reversed(self.children):
            child.stop()
