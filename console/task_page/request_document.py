"""Request of a task as the JSON that its client sent, as far as it is stored. Files are described in words."""

import json
from collections.abc import Mapping
from typing import Any

from common.documents import elements, shown
from common.redaction import cleaned
from tasks.models import Task
from tasks.shown.exhibits import FILES


def text(task: Task, stored: object) -> str:
    """Format the request as indented JSON; empty if the params were deleted."""
    if not isinstance(stored, Mapping):
        return ""
    params = {name: _value(name, value) for name, value in stored.items() if name != "modality"}
    sent = {"model": task.model_name, "modality": task.modality, "params": params}
    beside = {"callback_url": task.callback_url, "metadata": task.metadata}
    whole = {**sent, **{name: value for name, value in beside.items() if value is not None}}
    return json.dumps(cleaned(whole), indent=2, ensure_ascii=False)


def _value(name: str, value: Any) -> Any:
    if name not in FILES:
        return value
    return [_file(each) for each in elements(value)] if isinstance(value, list) else _file(value)


def _file(value: object) -> object:
    """Replace a stored file by its size and type, as its storage key is internal."""
    element = shown(value)
    if "stored" not in element:
        return value
    kept = shown(element["stored"])
    words = f"(a file of {kept.get('size_bytes')} bytes, {kept.get('content_type')})"
    rest = {name: part for name, part in element.items() if name != "stored"}
    return {**rest, "url" if "type" in element else "image_url": words}
