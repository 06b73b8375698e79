"""The fronts that a task comes by."""

from typing import Literal

Origin = Literal["async", "videos", "sync"]
"""`POST /v1/tasks`, `POST /v1/videos`, and the synchronous image calls."""

# A client waits for one of `sync`, which so is in no list and no stream.
LISTED: tuple[Origin, ...] = ("async", "videos")
