"""Creates the files of succeeded tasks: real ones, drawn by the sandbox, for the newest; for others only rows of
expired files."""

import random
from collections.abc import Iterator, Sequence
from datetime import datetime

from sandbox.films import Film
from sandbox.pictures import Picture
from tasks.assets import assets
from tasks.assets.assets import NewAsset
from tasks.models import Asset
from tools.seed.history import Told
from tools.seed.rows import HistoryRows

LARGEST_EDGE = 1024
"""Largest size of real pictures: 2K ones take long to make."""
PICTURE_BYTES, FILM_BYTES = (180_000, 2_400_000), (1_200_000, 9_000_000)


def add(rng: random.Random, rows: HistoryRows, told: Sequence[Told], until: datetime, *, real: int) -> None:
    """Adds assets for all succeeded tasks; the newest `real` tasks, and the newest film of each key, have real files.
    Stores files, so no transaction may be open.

    Raises StorageUnavailable.
    """
    succeeded = sorted((each for each in told if each.task.status == "succeeded"), key=lambda each: each.ended_at)
    films = {each.task.key_id: each for each in succeeded if each.task.modality == "video"}
    newest = {each.task.pk for each in [*succeeded[-real:], *films.values()]} if real else set()
    prompts = {payload.task_id: (payload.params or {})["prompt"] for payload in rows.payloads}
    for each in succeeded:
        is_real = each.task.pk in newest
        made = drawn(each, prompts[each.task.pk]) if is_real else supposed(rng, each)
        for position, asset in enumerate(made):
            rows.assets.append(
                Asset(
                    task=each.task,
                    position=position,
                    kind=asset.kind,
                    storage_key=asset.storage_key,
                    content_type=asset.content_type,
                    size_bytes=asset.size_bytes,
                    sha256=asset.sha256,
                    width=asset.width,
                    height=asset.height,
                    duration_seconds=asset.duration_seconds,
                    created_at=each.ended_at,
                    deleted_at=None if is_real else until,
                )
            )


def drawn(told: Told, prompt: str) -> Iterator[NewAsset]:
    for position in range(told.order.files):
        yield assets.store([_bytes(told, prompt, position)], kind=told.task.modality)


def _bytes(told: Told, prompt: str, position: int) -> bytes:
    if told.task.modality == "video":
        ratio = told.order.prepared.request.aspect_ratio or "16:9"
        return Film(ratio=ratio, seconds=told.order.seconds, sound=False).render()
    width, height = told.order.wish.size
    scale = max(1.0, max(width, height) / LARGEST_EDGE)
    return Picture(prompt=prompt, width=round(width / scale), height=round(height / scale), index=position).render()


def supposed(rng: random.Random, told: Told) -> Iterator[NewAsset]:
    """Describes files that are gone."""
    width, height = told.order.wish.size
    is_film = told.task.modality == "video"
    for _ in range(told.order.files):
        name = f"{rng.getrandbits(128):032x}"
        yield NewAsset(
            kind=told.task.modality,
            storage_key=f"results/{name[:2]}/{name[2:4]}/{name}",
            content_type="video/mp4" if is_film else "image/png",
            size_bytes=rng.randrange(*(FILM_BYTES if is_film else PICTURE_BYTES)),
            sha256=f"{rng.getrandbits(256):064x}",
            width=width,
            height=height,
            duration_seconds=float(told.order.seconds) if is_film else None,
        )
