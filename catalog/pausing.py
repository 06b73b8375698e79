"""Pause, drain and resume: what an operator lets a channel or a model do for now.

*Paused*: new tasks are taken for it and wait; nothing is started there; what runs goes on, and tasks with another route
take that. *Drained*: nothing new is taken for it, and what is queued or runs goes to its end. Unlike `enabled` it is no
part of the catalog file, so loading one never resumes anything.
"""

from collections.abc import Iterator
from typing import Literal

from django.db.models.functions import Now

from catalog.models import Channel, MediaModel, OperatorStanding
from common import sql
from pages import words

Pausable = Channel | MediaModel

# Rows (kind, id). A claim reads them behind its lock, so nothing starts there once the pause is committed.
PAUSED = """
SELECT 'paused channel' AS kind, id FROM catalog_channel WHERE standing = 'paused'
UNION ALL
SELECT 'paused model', id FROM catalog_mediamodel WHERE standing = 'paused'
"""


def pause(row: Pausable) -> bool:
    """Start nothing there from the next claim on. Returns whether that is new."""
    return _move(row, OperatorStanding.PAUSED)


def drain(row: Pausable) -> bool:
    """Take nothing new for it from the next submission on. Returns whether that is new."""
    return _move(row, OperatorStanding.DRAINED)


def resume(row: Pausable) -> bool:
    """Undo either. Returns whether anything was to be undone."""
    return _move(row, OperatorStanding.ON)


def _move(row: Pausable, standing: OperatorStanding) -> bool:
    since = None if standing == OperatorStanding.ON else Now()
    rows = type(row).objects.filter(pk=row.pk).exclude(standing=standing)
    is_new = bool(rows.update(standing=standing, standing_since=since))
    row.refresh_from_db(fields=["standing", "standing_since"])
    return is_new


def standing(row: Pausable) -> Literal["on", "paused", "drained"]:
    """Of the row at hand."""
    match row.standing:
        case OperatorStanding.PAUSED:
            return "paused"
        case OperatorStanding.DRAINED:
            return "drained"
        case _:
            return "on"


def paused() -> tuple[frozenset[int], frozenset[int]]:
    """The channels and the models, by id, on which nothing is started now."""
    rows = sql.fetch(PAUSED)
    channels, models = (frozenset(i for kind, i in rows if kind == f"paused {what}") for what in ("channel", "model"))
    return channels, models


def halted() -> Iterator[Pausable]:
    """All that is paused or drained."""
    for kind in (Channel, MediaModel):
        yield from kind.objects.exclude(standing=OperatorStanding.ON).order_by("name")


def name(row: Pausable) -> str:
    return f"channel {row.name}" if isinstance(row, Channel) else f"{row.modality} model {row.name}"


def told(row: Pausable) -> str:
    """How it stands in one sentence without its end; empty where it is on."""
    return "" if standing(row) == "on" else f"{name(row)} is {standing(row)} since {words.absolute(row.standing_since)}"


MEANING = {
    "on": "It takes tasks and starts them.",
    "paused": "New tasks are taken and wait, nothing is started, and what runs goes on.",
    "drained": "Nothing new is taken, and what is queued or runs goes to its end.",
}
"""What each standing means, for pages."""
