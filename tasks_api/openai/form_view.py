"""The base of the views whose POST makes a task of a body as OpenAI's SDKs send it."""

from collections.abc import Collection

from rest_framework.request import Request

from common.errors import BillingUnsupported
from tasks_api.openai import bodies
from tasks_api.openai.bodies import SentBody
from tasks_api.submissions import SubmissionView


class FormSubmissionView(SubmissionView):
    """`files` are the names of the parts of a form that are files."""

    files: Collection[str] = ()

    def sent(self, request: Request) -> SentBody:
        """Raises BillingUnsupported, UnsupportedMediaType, InvalidRequest, in this order."""
        if self.caller.is_subscription:
            raise BillingUnsupported()
        sent = bodies.read(request, files=self.files)
        self.read_query(request)
        return sent
