"""Writes requests as curl commands, and the overview's programs, for this installation's address."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

FOLDER = Path(__file__).resolve().parent / "snippets"
WRITTEN_FOR = "http://127.0.0.1:8000"
KEYS = {"taskKey": "TASK_API_KEY", "metricsToken": "METRICS_TOKEN"}
GENERAL_KEY = "GENERAL_API_KEY"


def program(name: str) -> str:
    """Returns a file of `reference/snippets/` with our address filled in."""
    return (FOLDER / name).read_text(encoding="utf-8").replace(WRITTEN_FOR, settings.PUBLIC_BASE_URL).strip()


def curl(
    method: str,
    path: str,
    *,
    scheme: tuple[str, Mapping[str, Any]] | None,
    parameters: Sequence[Mapping[str, Any]],
    body: tuple[str, Any] | None,
    is_stream: bool = False,
) -> str:
    """Returns a shell command; `scheme` names the way to authenticate; `body` is a media type with a value."""
    options = f"{'-N ' if is_stream else ''}{'' if method == 'GET' else f'-X {method} '}"
    lines = [f'curl {options}"$BASE_URL{address(path, parameters)}"']
    lines += [f'-H "{header}"' for header in key_headers(scheme)]
    if body:
        lines += write_body(*body)
    return " \\\n  ".join(lines)


def address(path: str, parameters: Iterable[Mapping[str, Any]]) -> str:
    """Returns the path with sample values, and the parameters that the query requires."""
    required = []
    for parameter in parameters:
        sample = parameter.get("example", parameter.get("schema", {}).get("example"))
        if parameter["in"] == "path" and sample is not None:
            path = path.replace(f"{{{parameter['name']}}}", str(sample))
        if parameter["in"] == "query" and parameter.get("required"):
            required.append(f"{parameter['name']}={sample or '…'}")
    return f"{path}?{'&'.join(required)}" if required else path


def key_headers(scheme: tuple[str, Mapping[str, Any]] | None) -> list[str]:
    if not scheme:
        return []
    name, says = scheme
    variable = KEYS.get(name, GENERAL_KEY)
    return [f"Authorization: Bearer ${variable}" if says["type"] == "http" else f"{says['name']}: ${variable}"]


def write_body(media_type: str, value: Any) -> list[str]:
    """Writes options for JSON as it is, or for each field of a form; files are named by a path."""
    if media_type == "multipart/form-data" and isinstance(value, dict):
        return [f"-F {shlex.quote(f'{name}={part}')}" for name, each in value.items() for part in form_parts(each)]
    if not media_type.endswith("json"):
        return [f'-H "Content-Type: {media_type}"', "--data-binary @file"]
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return [f'-H "Content-Type: {media_type}"', f"-d {shlex.quote(text)}"]


def form_parts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [part for each in value for part in form_parts(each)]
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
