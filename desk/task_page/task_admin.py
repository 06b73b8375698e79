"""Admin of tasks: the list, and the page of one."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from common import ids
from desk.kit.actions import ActionPages, Offered, url_of
from desk.task_list import list_view
from desk.task_page import sheet
from desk.task_page.actions import TASK_ACTIONS
from desk.task_page.call_actions import CALL_ACTIONS
from pages.admin_pages import ReadOnlyAdmin
from tasks.models import Call, Task


class TaskAdmin(ActionPages, ReadOnlyAdmin):
    row_actions = TASK_ACTIONS

    def get_queryset(self, request: HttpRequest) -> QuerySet[Task]:
        rows: QuerySet[Task] = super().get_queryset(request).select_related("key__account")
        return rows

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list, or redirect to the task with id `q`."""
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
        wanted = request.GET.get("q", "").strip()
        if ids.is_task_id(wanted) and Task.objects.filter(pk=wanted).exists():
            return redirect("admin:tasks_task_change", wanted)
        if wanted:
            messages.warning(request, "No task has this id.")
        return self.page(request, "admin/tasks/task/list.html", title="Tasks", **list_view.context(request.GET))

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """Show the read-only page of one task."""
        task = sheet.find(unquote(object_id))
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request, task):
            raise PermissionDenied
        if task is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        return self._page_of(request, task)

    def _page_of(self, request: HttpRequest, task: Task) -> HttpResponse:
        found = sheet.gather(task)
        return self.page(
            request,
            "admin/tasks/task/page.html",
            title=task.pk,
            original=task,
            sheet=found,
            row_actions=list(self.offered(request, task)),
            calls=[(row, list(self._settling(request, row.call))) for row in found.calls],
        )

    def _settling(self, request: HttpRequest, call: Call) -> Iterator[Offered]:
        """Yield the buttons of a call of unknown outcome, whose task must be loaded."""
        for action in CALL_ACTIONS:
            if request.user.has_perm(action.right) and action.applies(call):
                yield Offered(label=action.label, url=url_of(call, action.name), is_danger=action.is_danger)
