"""Stores results as JSON: the figures of each round, with date, machine and versions. One file for each state."""

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
import psycopg

from bench.model import RowResult, Sample


def machine() -> str:
    return f"{os.cpu_count()} CPUs, {platform.system()} {platform.release()}, Python {platform.python_version()}"


def dump(result: RowResult) -> dict[str, Any]:
    return {
        "rounds": [{name: dict(sample.figures) for name, sample in one.items()} for one in result.rounds],
        "skipped": result.skipped,
        "failed": result.failed,
        "missing": dict(result.missing or {}),
    }


def load(name: str, stored: Mapping[str, Any]) -> RowResult:
    return RowResult(
        name=name,
        rounds=tuple({n: Sample(figures=figures) for n, figures in one.items()} for one in stored["rounds"]),
        skipped=stored["skipped"],
        failed=stored["failed"],
        missing=stored["missing"],
    )


def read(path: Path) -> dict[str, RowResult]:
    """Returns the results by row; none without such a file."""
    if not path.exists():
        return {}
    return {name: load(name, stored) for name, stored in json.loads(path.read_text())["rows"].items()}


def merge(path: Path, found: list[RowResult], versions: Mapping[str, str]) -> None:
    """Writes these rows into the file, keeping its other rows."""
    stored = json.loads(path.read_text()) if path.exists() else {"rows": {}, "versions": {}}
    stored |= {"date": datetime.now(UTC).date().isoformat(), "machine": machine()}
    stored["versions"] |= {"Django": django.__version__, "psycopg": psycopg.__version__, **versions}
    stored["rows"] |= {result.name: dump(result) for result in found}
    stored["rows"] = dict(sorted(stored["rows"].items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n")
