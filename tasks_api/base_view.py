"""The base of the Task API's views: admits the caller, reads query and body, finds the caller's task."""

from collections.abc import Collection, Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.views import APIView

from common.errors import BillingUnsupported, TaskNotFound
from common.http import rates
from common.ids import is_task_id
from tasks.gate import Admission, Caller
from tasks.intake import examination
from tasks.intake.drafts import PreparedSubmission
from tasks.shown.representation import TaskView
from tasks_api import admissions, json_body, queries, readings


class TaskApiView(APIView):
    """Admits the caller before anything else. `query_names` are the parameters of its GET and HEAD, which `parameters`
    then has by name; other methods have none."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    query_names: Collection[str] = ()
    admission: Admission
    parameters: Mapping[str, str]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.admit(request)
        if request.method in self.allowed_methods:
            self.read_query(request)

    def admit(self, request: Request) -> None:
        self.admission = admissions.of(request)
        rates.check("read", self.caller.key_id)

    def read_query(self, request: Request) -> None:
        """Raises InvalidRequest naming a parameter that is unknown or repeated."""
        known = self.query_names if request.method in ("GET", "HEAD") else ()
        self.parameters = queries.single_values(request.query_params, known)

    @property
    def caller(self) -> Caller:
        return self.admission.caller

    def task(self, task_id: str) -> TaskView:
        """The caller's own task. Raises TaskNotFound."""
        found = readings.of(self.request, self.caller.key_id, task_id) if is_task_id(task_id) else None
        if found is None:
            raise TaskNotFound()
        return found

    def document(self, request: Request) -> dict[str, Any]:
        """The body of a submission, which has no query beside it.

        Raises BillingUnsupported, UnsupportedMediaType, InvalidRequest, in this order.
        """
        if self.caller.is_subscription:
            raise BillingUnsupported()
        document = json_body.document(request)
        self.read_query(request)
        return document

    def prepared(self, document: dict[str, Any]) -> PreparedSubmission:
        """The checks from fields to pricing. Raises the ApiError of the first that fails."""
        version = self.admission.service.catalog_version
        return examination.prepare(self.caller.key_id, document, catalog_version=version)
