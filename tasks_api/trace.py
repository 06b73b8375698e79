"""The view that tells the owner of a task why it ran where it ran."""

from rest_framework.request import Request
from rest_framework.response import Response

from tasks.shown import trace
from tasks_api.base_view import TaskApiView


class TraceView(TaskApiView):
    """GET tells every route that was considered and every paid call, without naming a provider."""

    def get(self, request: Request, task_id: str) -> Response:
        return Response(trace.public(trace.of_task(self.task(task_id).id)))
