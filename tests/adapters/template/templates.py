"""Targets and connections of described providers for tests."""

from typing import Any

from adapters.base import Connection, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to

adapter = ADAPTERS["http_template"]
BASE = "https://api.example.com/v1"
SIZES = {"1K": {"1:1": "1024x1024", "16:9": "1344x768"}, "2K": {"1:1": "2048x2048"}}

AT_ONCE: dict[str, Any] = {
    "modalities": ["image"],
    "submit": {"path": "/draw", "body": {"model": "{model}", "prompt": "{prompt}", "n": "{n}"}},
    "result": {"outputs": "data[].url", "b64": "data[].b64"},
    "error": {"code": "error.code", "message": "error.message"},
    "probe": "/models",
}
JOB: dict[str, Any] = {
    "modalities": ["video"],
    "headers": {"X-Key": "{api_key}"},
    "submit": {
        "path": "/films",
        "body": {
            "model": "{model}",
            "prompt": "{prompt}",
            "seconds": "{duration}",
            "quality": "{resolution}",
            "ratio": "{aspect_ratio}",
        },
    },
    "id": "job.id",
    "status": {
        "url": "/films/{id}",
        "path": "job.state",
        "map": {
            "waiting": "queued",
            "working": "running",
            "ready": "succeeded",
            "broken": "failed",
            "gone": "canceled",
        },
        "progress": "job.share",
        "progress_max": 1,
    },
    "result": {"outputs": "job.files[].url", "duration": "job.length"},
    "cancel": {"url": "/films/{id}/stop"},
    "error": {
        "code": ["error.code", "job.error.code"],
        "message": ["error.message", "job.error.message"],
        "map": {
            "nsfw": "content_policy",
            "no_money": "quota_exhausted",
            "closed": "model_unavailable",
            "409": "overloaded",
        },
        "texts": [
            {"contains": "indecent", "kind": "content_policy"},
            {"contains": "pay up", "kind": "quota_exhausted", "status": 403},
        ],
        "gone": ["no such film"],
    },
    "poll_seconds": 3,
    "probe": "/account",
}


def target_of(template: object, modality: str = "image", /, *, model: str = "fox-1", **capabilities: Any) -> Target:
    """A target of a template; an image one has a size table unless told otherwise."""
    table = {"size_table": SIZES} if modality == "image" else {}
    return Target(
        adapter="http_template",
        base_url=BASE,
        upstream_model=model,
        capabilities={name: value for name, value in (table | capabilities).items() if value is not None},
        options={"template": template},
    )


def connected(template: object, base_url: str = BASE, **changes: Any) -> Connection:
    return connection_to(base_url, options={"template": template}, **changes)


def changed(template: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A copy with other parts; None takes a part away."""
    return {name: value for name, value in (template | parts).items() if value is not None}
