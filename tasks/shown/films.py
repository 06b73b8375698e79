"""A key's video tasks as `/v1/videos` shows them, whichever front they came by, each from one row of one statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from billing import modes
from common import documents, sql
from common.errors import InvalidRequest
from tasks.assets import links
from tasks.assets.links import AssetRow
from tasks.intake.drafts import Draft
from tasks.origins import LISTED
from tasks.shown import listing

SCANNED = 100_000
LONGEST_PROMPT = 32_000  # of what is shown: a page has many, and a request may be as long as a body
LONGEST_WORD = 64
ORDERS = {"desc": ("<", "DESC"), "asc": (">", "ASC")}
PARAMETERS = ("after", "limit", "order")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmView:
    """One video task. Texts are as the request gave them, of a long prompt its beginning, and None where its params are
    deleted; `asked_size` is what a
    front with sizes of its own was asked for. `kept_until` is of a film that exists, None for ever."""

    id: str
    model_name: str
    status: str
    created_at: datetime
    finished_at: datetime | None
    progress: int | None
    error: Mapping[str, Any] | None
    prompt: str | None
    seconds: str | None
    resolution: str | None
    aspect_ratio: str | None
    asked_size: str | None
    kept_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmPage:
    """`last_id` is the task id after which the next page begins."""

    films: list[FilmView]
    last_id: str | None
    has_more: bool


def of_draft(draft: Draft, created_at: datetime) -> FilmView:
    """What `find_one` would tell of a new task."""
    request = draft.prepared.request
    return FilmView(
        id=draft.task_id,
        model_name=draft.prepared.body.model,
        status="queued",
        created_at=created_at,
        finished_at=None,
        progress=None,
        error=None,
        prompt=request.prompt[:LONGEST_PROMPT],
        seconds=str(request.duration),
        resolution=request.resolution,
        aspect_ratio=request.aspect_ratio,
        asked_size=draft.asked.get("size"),
        kept_until=None,
    )


SELECT = """
SELECT t.id, t.model_name, t.status, t.created_at, t.finished_at, t.progress, t.error, t.price,
    {texts}, {asked_size} AS asked_size,
    a.position, a.storage_key, a.content_type, a.created_at AS stored_at, a.deleted_at
FROM tasks_task t LEFT JOIN tasks_taskpayload p ON p.task_id = t.id {unpacked}
LEFT JOIN tasks_asset a ON a.task_id = t.id AND t.status = 'succeeded' AND a.position = (
    SELECT min(f.position) FROM tasks_asset f WHERE f.task_id = t.id AND f.kind = 'video'
)
WHERE t.modality = 'video' AND t.origin IN ({listed})
"""


def find_one(key_id: int, task_id: str) -> FilmView | None:
    """A video task of this key; None where it has none of this id, or one of another modality."""
    rows = sql.records(f"{_select(sql.is_postgresql())} AND t.key_id = %s AND t.id = %s", [key_id, task_id])
    return _view(rows[0]) if rows else None


TEXTS = {"prompt": LONGEST_PROMPT, "duration": LONGEST_WORD, "resolution": LONGEST_WORD, "aspect_ratio": LONGEST_WORD}


@lru_cache
def _select(is_postgresql: bool) -> str:
    """Params may have megabytes: each row's are unpacked once."""
    if is_postgresql:
        names = ", ".join(f"{name} text" for name in TEXTS)
        params = "CASE WHEN jsonb_typeof(p.params) = 'object' THEN p.params END"  # another version's may be none
        unpacked = f"LEFT JOIN LATERAL jsonb_to_record({params}) q({names}) ON true"
        texts, asked_size = (f"left(q.{name}, {most})" for name, most in TEXTS.items()), "p.trace #>> '{asked,size}'"
    else:
        unpacked = ""
        texts = (f"substr(json_extract(p.params, '$.{name}'), 1, {most})" for name, most in TEXTS.items())
        asked_size = "json_extract(p.trace, '$.asked.size')"
    return SELECT.format(
        texts=", ".join(f"{text} AS {name}" for name, text in zip(TEXTS, texts, strict=True)),
        asked_size=asked_size,
        unpacked=unpacked,
        listed=sql.words(LISTED),
    )


def _view(row: Any) -> FilmView:
    seconds = row.duration
    if seconds is None:  # the params are deleted, and the price stays
        price = documents.shown(sql.as_document(row.price))
        mode = modes.find(price.get("mode"))
        seconds = price.get("quantity") if mode and mode.measures_length else None
    return FilmView(
        id=row.id,
        model_name=row.model_name,
        status=row.status,
        created_at=sql.as_moment(row.created_at),
        finished_at=row.finished_at and sql.as_moment(row.finished_at),
        progress=row.progress,
        error=sql.as_document(row.error),
        prompt=row.prompt,
        seconds=None if seconds is None else str(seconds),
        resolution=row.resolution,
        aspect_ratio=row.aspect_ratio,
        asked_size=row.asked_size,
        kept_until=_kept_until(row),
    )


def _kept_until(row: Any) -> datetime | None:
    if row.position is None:
        return None
    film = AssetRow(
        task_id=row.id,
        position=row.position,
        storage_key=row.storage_key,
        content_type=row.content_type,
        created_at=sql.as_moment(row.stored_at),
        deleted_at=row.deleted_at and sql.as_moment(row.deleted_at),
    )
    return links.retained_until(film)


# The inner list is read no further than the page needs, from the index that `tasks/shown/listing.py` reads, too.
FOUND = """
SELECT t.id FROM (
    SELECT t.id, t.modality, t.origin FROM tasks_task t WHERE {within} ORDER BY t.id {direction} LIMIT %s
) t WHERE t.modality = 'video' AND t.origin IN ({listed}) ORDER BY t.id {direction} LIMIT %s
"""
SCAN_END = "SELECT t.id FROM tasks_task t WHERE {within} ORDER BY t.id {direction} LIMIT 1 OFFSET %s"


def page(key_id: int, *, after: str | None, limit: str | None, order: str | None) -> FilmPage:
    """The films after the one of this task id, newest first unless `order` says `asc`. Raises InvalidRequest.

    A page looks at SCANNED tasks at most, so that one of a key with few films among very many pictures may be short
    although the list goes on.
    """
    most = listing.page_size(limit)
    order = "desc" if order is None else order
    if order not in ORDERS:
        raise InvalidRequest("order: must be one of asc, desc.", param="order")
    comparison, direction = ORDERS[order]
    within = "t.key_id = %s" + (f" AND t.id {comparison} %s" if after else "")
    parameters: list[object] = [key_id, after] if after else [key_id]
    statement = FOUND.format(within=within, direction=direction, listed=sql.words(LISTED))
    found = sql.column(statement, [*parameters, SCANNED, most + 1])
    shown, is_full = found[:most], len(found) > most
    last_id = shown[-1] if shown else None
    ends = []
    if not is_full:
        ends = sql.column(SCAN_END.format(within=within, direction=direction), [*parameters, SCANNED - 1])
    if ends:  # what came meanwhile may have moved it before what is shown
        last_id = (max if order == "asc" else min)([*ends, *shown])
    return FilmPage(films=_in_order(shown), last_id=last_id, has_more=is_full or bool(ends))


def _in_order(ids: Sequence[str]) -> list[FilmView]:
    if not ids:
        return []
    rows = sql.records(f"{_select(sql.is_postgresql())} AND t.id IN ({sql.places(ids)})", ids)
    by_id = {row.id: row for row in rows}
    return [_view(by_id[task_id]) for task_id in ids if task_id in by_id]
