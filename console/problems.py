"""Why a task brought nothing, as its customer reads it: what happened, why, and what to do next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console import error_words

WHAT = {"failed": "It failed", "timeout": "It took too long", "canceled": "It was canceled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Three sentences; the second is empty where there is no more to say."""

    what: str
    why: str
    next_step: str


def of(status: str, error: Mapping[str, Any] | None) -> Problem | None:
    """By the task object's error; None where nothing went wrong."""
    if status not in WHAT:
        return None
    if status == "canceled":
        return Problem(what=f"{WHAT[status]}.", why="", next_step="Nothing was charged.")
    given = error or {}
    return Problem(
        what=f"{WHAT[status]}.",
        why=str(given.get("message") or ""),
        next_step=f"Nothing was charged. {error_words.of_task(str(given.get('type'))).next_step}",
    )
