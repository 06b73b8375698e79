"""Load over HTTP: wrk where it is there, else our own client. Both send prepared requests, each key in turn."""

import json
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import client
from tools.children import PATIENCE

SCRIPT = Path(__file__).with_name("load.lua")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is sent: a method, a path for each request in turn, a body, and an Authorization for each in turn.

    With `is_unique` each request has an Idempotency-Key of its own. `keeps_alive` is off for servers that cannot.
    """

    url: str
    method: str = "GET"
    paths: tuple[str, ...]
    body: str = ""
    authorizations: tuple[str, ...]
    is_unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What came back. `refused` counts answers that are no 2xx, and errors of the connection."""

    answered: int
    refused: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def rate(self) -> float:
        return self.answered / self.seconds


def run(plan: Plan, *, connections: int, seconds: float, folder: Path) -> Load:
    """Keep so many requests in flight for so long; `folder` takes a file."""
    wrk = shutil.which("wrk")
    return with_wrk(wrk, plan, connections, seconds, folder) if wrk else client.run(plan, connections, seconds)


def described() -> str:
    """Which of the two it is; our own with what it can do at most."""
    if shutil.which("wrk"):
        return "wrk"
    return f"own client, at most {client.ceiling(64).rate:,.0f} requests a second"


def with_wrk(wrk: str, plan: Plan, connections: int, seconds: float, folder: Path) -> Load:
    parts = folder / f"load-{secrets.token_hex(4)}.txt"
    head = [plan.method, plan.body, "unique" if plan.is_unique else "", secrets.token_hex(6)]
    parts.write_text("\n".join([*head, str(len(plan.paths)), *plan.paths, *plan.authorizations]) + "\n")
    threads = min(2, connections)
    much = [f"-t{threads}", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", f"{PATIENCE:g}s"]
    command = [wrk, *much, "-s", str(SCRIPT), plan.url, "--", str(parts)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = json.loads(said[said.rindex("JSON:") + 5 :])
    return Load(
        answered=found["requests"] - found["refused"],
        refused=found["refused"] + found["errors"],
        seconds=found["microseconds"] / 1e6,
        p50_ms=found["p50"] / 1000,
        p99_ms=found["p99"] / 1000,
    )
