"""Explanation of a task without a result: what happened, why, and what to do next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console import error_words

WHAT = {"failed": "It failed", "timeout": "It took too long", "canceled": "It was canceled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Three sentences, of which `why` may be empty."""

    what: str
    why: str
    next_step: str


def describe(status: str, error: Mapping[str, Any] | None) -> Problem | None:
    """Describe the problem by the task object's error; None without a problem."""
    if status not in WHAT:
        return None
    if status == "canceled":
        return Problem(what=f"{WHAT[status]}.", why="", next_step="Nothing was charged.")
    given = error or {}
    return Problem(
        what=f"{WHAT[status]}.",
        why=str(given.get("message") or ""),
        next_step=f"Nothing was charged. {error_words.explain_task_error(str(given.get('type'))).next_step}",
    )
