"""Template context of the task list."""

from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from desk.task_list import finding
from desk.task_list.filter_form import TaskFilterForm
from desk.task_list.finding import TaskPage
from tasks.models import Task

NOTHING = TaskPage(tasks=(), older=None, is_cut=False)


def context(given: QueryDict) -> dict[str, Any]:
    form = TaskFilterForm(given.dict())
    page = finding.find(form.query()) if form.is_valid() else NOTHING
    older = f"?{urlencode(form.sent(before=page.older))}" if page.older else ""
    rows = [(task, took(task)) for task in page.tasks]
    is_first = not form.data.get("before")
    return {"form": form, "rows": rows, "list": page, "older": older, "said": said(form), "is_first": is_first}


def took(task: Task) -> float | None:
    """Compute seconds from submission to end; None for a live task."""
    return (task.finished_at - task.created_at).total_seconds() if task.finished_at else None


def said(form: TaskFilterForm) -> str:
    """Describe the filters; empty without any."""
    if not form.is_valid():
        return ""
    given = form.cleaned_data
    channel = dict(form.fields["channel"].choices).get(given["channel"])  # type: ignore[attr-defined]
    key = f"of key {given['key'].name}" if given["key"] else ""
    words = (
        given["status"],
        given["modality"],
        f"of model {given['model']}" if given["model"] else "",
        f"on channel {channel}" if channel else "",
        f"of account {given['account'].name}" if given["account"] else "",
        key,
        f"since {given['since']:%Y-%m-%d %H:%M} UTC" if given["since"] else "",
        f"before {given['until']:%Y-%m-%d %H:%M} UTC" if given["until"] else "",
    )
    return ", ".join(word for word in words if word)
