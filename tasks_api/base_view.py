"""The base of the Task API's views: DRF's checks in the contract's order, query and body, the caller's own task."""

from collections.abc import Collection, Mapping
from io import BytesIO
from typing import Any, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from accounts.authentication import Admission, Caller
from common.errors import BillingUnsupported, TaskNotFound
from common.http import rates
from common.ids import is_task_id
from tasks.intake import examination
from tasks.intake.drafts import PreparedSubmission
from tasks.shown import representation
from tasks.shown.representation import TaskView
from tasks_api import authentication, queries
from tasks_api.json_content import JSONNegotiation, PlainJSONRenderer, StrictJSONParser


class TaskKeyAuthentication(BaseAuthentication):
    """Gives the caller as `request.user` and the admission as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Caller, Admission]:
        """Raises ApiDisabled, AuthenticationError, ScopeRequired."""
        admission = authentication.admission(request._request)
        return admission.caller, admission


class KeyScope(BasePermission):
    """Keeps keys from paths that no operator has opened for them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises ScopeRequired."""
        authentication.refuse_without_scope(request.path, view.caller)
        return True


class KeyRate(BaseThrottle):
    """Counts the request against the rate that its view names in `rate`."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Raises RateLimited."""
        rates.check(view.rate, view.caller.key_id)
        return True


class TaskApiView(APIView):
    """Checks credentials, scope, rate and query, then calls the handler of the method.

    `query_names` are the parameters of GET and HEAD, which `parameters` then has by name; other methods have none. In
    POST of a class with `reads_body_first`, the query is refused only after the body, by `document`.
    """

    authentication_classes = [TaskKeyAuthentication]
    permission_classes = [KeyScope]
    throttle_classes = [KeyRate]
    parser_classes = [StrictJSONParser]
    renderer_classes = [PlainJSONRenderer]
    content_negotiation_class = JSONNegotiation
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    query_names: Collection[str] = ()
    reads_body_first = False
    parameters: Mapping[str, str]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        waits = self.reads_body_first and request.method == "POST"
        if request.method in self.allowed_methods and not waits:
            self.read_query(request)

    def read_query(self, request: Request) -> None:
        """Raises InvalidRequest naming a parameter that is unknown or repeated."""
        known = self.query_names if request.method in ("GET", "HEAD") else ()
        self.parameters = queries.single_values(request.query_params, known) if request.META["QUERY_STRING"] else {}

    @property
    def rate(self) -> str:
        """The kind of rate that the request counts against."""
        return "read"

    @property
    def admission(self) -> Admission:
        return cast(Admission, self.request.auth)

    @property
    def caller(self) -> Caller:
        return self.admission.caller

    def task(self, task_id: str) -> TaskView:
        """The caller's own task. Raises TaskNotFound."""
        found = self._found(task_id) if is_task_id(task_id) else None
        if found is None:
            raise TaskNotFound()
        return found

    def _found(self, task_id: str) -> TaskView | None:
        """The task, which the front may have read already, together with those of other requests."""
        read: Mapping[tuple[int, str], Any] = getattr(self.request._request, "tasks_read", {})
        pair = (self.caller.key_id, task_id)
        task: TaskView | Exception | None = read[pair] if pair in read else representation.find_one(*pair)
        if isinstance(task, Exception):
            raise task
        return task

    def document(self, request: Request) -> dict[str, Any]:
        """The body of a submission, which has no query beside it.

        Raises BillingUnsupported, UnsupportedMediaType, InvalidRequest, in this order.
        """
        if self.caller.is_subscription:
            raise BillingUnsupported()
        parser = cast(JSONNegotiation, request.negotiator).select_parser(request, self.get_parsers())
        # `request.data` would keep the document, which may have megabytes, as long as the view.
        document = parser.parse(BytesIO(request._request.body), request.content_type, request.parser_context)
        self.read_query(request)
        return cast(dict[str, Any], document)

    def prepared(self, document: dict[str, Any]) -> PreparedSubmission:
        """The checks from fields to pricing. Raises the ApiError of the first that fails."""
        version = self.admission.service.catalog_version
        return examination.prepare(self.caller.key_id, document, catalog_version=version)
