"""Generates load over HTTP with wrk, or else with our own client. Both send prepared requests with the keys in turn."""

import json
import secrets
import shutil
import subprocess
from pathlib import Path

from bench import client
from bench.model import Load, LoadPlan
from tools.children import PATIENCE

SCRIPT = Path(__file__).with_name("load.lua")


def run(plan: LoadPlan, *, connections: int, seconds: float, folder: Path) -> Load:
    """Keeps `connections` requests in flight for `seconds`; `folder` is for a temporary file."""
    wrk = shutil.which("wrk")
    return with_wrk(wrk, plan, connections, seconds, folder) if wrk else client.run(plan, connections, seconds)


def described() -> str:
    """Names the load generator; our own with its measured limit."""
    if shutil.which("wrk"):
        return "wrk"
    return f"own client, at most {client.ceiling(64).rate:,.0f} requests a second"


def with_wrk(wrk: str, plan: LoadPlan, connections: int, seconds: float, folder: Path) -> Load:
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
