"""The base of the Task API's views: DRF's checks in the contract's order, strict JSON in, JSON with plain amounts of
money out, query, and the caller's own task."""

from collections.abc import Collection, Iterable, Mapping
from io import BytesIO
from typing import IO, Any, cast

from django.conf import settings
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from accounts.authentication import Admission, Caller
from common import strict_json
from common.errors import BillingUnsupported, TaskNotFound, UnsupportedMediaType
from common.http import rates
from common.ids import is_task_id
from common.money import PlainEncoder
from tasks.shown import representation
from tasks.shown.representation import TaskView
from tasks_api import authentication, queries
from tasks_api.authentication import TaskKeyAuthentication

JSON = "application/json"
CHARSETS = ("utf-8", "utf8")


class KeyScope(BasePermission):
    """Keeps keys from paths that no operator has opened for them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises ScopeRequired."""
        if request.path.startswith(authentication.VIDEOS):
            authentication.refuse_without_scope(request.path, view.caller)
        return True


class KeyRate(BaseThrottle):
    """Counts the request against the rate that its view names in `rate`, where there are any."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Raises RateLimited."""
        if settings.RATE_LIMITS:
            rates.check(view.rate, view.caller.key_id)
        return True


class StrictJSONParser(BaseParser):
    """Reads the one JSON object of a body in UTF-8."""

    media_type = JSON

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Raises UnsupportedMediaType, then InvalidRequest."""
        request: Request = (parser_context or {})["request"]
        if ";" in request.content_type:
            refuse_charsets(request.content_type)
        if "HTTP_CONTENT_ENCODING" in request.META:
            refuse_encodings(request)
        return strict_json.loads_object(stream.read())


class PlainJSONRenderer(JSONRenderer):
    """DRF's, but for the encoder."""

    encoder_class = PlainEncoder


class JSONNegotiation(BaseContentNegotiation):
    """Chooses the parser by Content-Type, and the one renderer for every `Accept`."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """Raises UnsupportedMediaType naming what is taken."""
        sent = media_type_of(request.content_type)
        for parser in parsers:
            if parser.media_type == sent:
                return parser
        raise UnsupportedMediaType(f"Content-Type: must be {' or '.join(str(each.media_type) for each in parsers)}.")

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first, *_ = renderers
        return first, str(first.media_type)


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
    parameters: Mapping[str, str] = {}
    admission: Admission
    caller: Caller

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.admission = cast(Admission, request.auth)  # DRF authenticates at the first look
        self.caller = self.admission.caller
        super().initial(request, *args, **kwargs)
        waits = self.reads_body_first and request.method == "POST"
        if request.META["QUERY_STRING"] and request.method in self.allowed_methods and not waits:
            self.read_query(request)

    def read_query(self, request: Request) -> None:
        """Raises InvalidRequest naming a parameter that is unknown or repeated."""
        known = self.query_names if request.method in ("GET", "HEAD") else ()
        self.parameters = queries.single_values(request.query_params, known)

    @property
    def rate(self) -> str:
        """The kind of rate that the request counts against."""
        return "read"

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
        if request.META["QUERY_STRING"]:
            self.read_query(request)
        return cast(dict[str, Any], document)


def media_type_of(content_type: str) -> str:
    """The media type of a Content-Type in lower case, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def refuse_charsets(content_type: str) -> None:
    """Raises UnsupportedMediaType where the charset of a Content-Type is another than UTF-8."""
    _, *parameters = content_type.lower().split(";")
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        if name.strip() == "charset" and value.strip().strip('"') not in CHARSETS:
            raise UnsupportedMediaType("Content-Type: the charset must be utf-8.")


def refuse_encodings(request: Request) -> None:
    """Raises UnsupportedMediaType where the body is compressed, say."""
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("Content-Encoding: only identity is accepted.")
