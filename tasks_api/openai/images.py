"""`POST /v1/images/generations` and `/v1/images/edits`: OpenAI's image calls as tasks.

The views end where a task is there. `front/image_calls.py` waits for it and answers.
"""

from dataclasses import dataclass
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Caller, Replay
from catalog import snapshot
from common.errors import (
    ApiError,
    GeneralKeyRefused,
    ImagesUnsupported,
    InvalidRequest,
    UnsupportedMediaType,
)
from tasks.intake import drafts, examination
from tasks.intake.drafts import Draft, PreparedSubmission
from tasks.intake.submission import Outcome
from tasks.models import ENDED
from tasks_api import responses
from tasks_api.openai import bodies, image_requests
from tasks_api.openai.bodies import SentBody
from tasks_api.openai.form_view import FormSubmissionView
from tasks_api.openai.image_calls import AwaitedTask
from tasks_api.openai.image_requests import FILES, Format, ImageRequest
from tasks_api.responses import PendingSubmission, Receipt, TaskResponse


class ImagesView(FormSubmissionView):
    """POST makes an image, or edits some; other methods there are none."""

    http_method_names = ["post"]
    files = FILES
    is_edit = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        try:
            super().initial(request, *args, **kwargs)
        except GeneralKeyRefused:
            raise ImagesUnsupported() from None

    def replayed(self, request: Request, replay: Replay) -> Response:
        is_same = replay.body_digest == bodies.digest_of(request, files=FILES)
        receipt = responses.replayed(self.caller.key_id, replay.task_id, is_same_body=is_same)
        return TaskResponse(self.expectation(_format_of_replay(request)).of_replay(receipt))

    def submitted(self, request: Request) -> PendingSubmission:
        sent = self.sent(request)
        asked, prepared = self.examined(sent)
        draft = drafts.draft(
            prepared,
            caller=self.caller,
            body_digest=sent.digest,
            idempotency_key=self.idempotency_key,
            origin="sync",
        )
        return PendingSubmission(draft, self.expectation(asked.response_format))

    def examined(self, sent: SentBody) -> tuple[ImageRequest, PreparedSubmission]:
        """The checks from fields to pricing. Raises the ApiError of the first that fails."""
        version, key_id = self.admission.service.catalog_version, self.caller.key_id
        images_name = "image"
        try:
            asked = image_requests.parse(sent, is_edit=self.is_edit, key_id=key_id, catalog=snapshot.current(version))
            images_name = asked.images_name
            return asked, examination.prepare(key_id, asked.document, catalog_version=version, mask=asked.mask)
        except ApiError as error:
            raise image_requests.WORDS[images_name].of(error) from None

    def expectation(self, response_format: Format | None) -> "Expectation":
        return Expectation(caller=self.caller, response_format=response_format)


class EditsView(ImagesView):
    is_edit = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What the client waits for once its task is there: the front waits for the task that the receipt names, and sends
    its pictures in place of the receipt."""

    caller: Caller
    response_format: Format | None

    def __call__(self, draft: Draft, outcome: Outcome) -> Receipt:
        receipt = responses.receipt_of(draft, outcome)
        return self.of_replay(receipt) if isinstance(outcome, Replay) else self._of(receipt, is_replay=False)

    def of_replay(self, receipt: Receipt) -> Receipt:
        """Raises InvalidRequest for a task of another kind."""
        if receipt.document["modality"] != "image":
            raise InvalidRequest(
                "Idempotency-Key: was used for a task that is no image.", param="Idempotency-Key", may_have_cost=True
            )
        return self._of(receipt, is_replay=True)

    def _of(self, receipt: Receipt, *, is_replay: bool) -> "ImageReceipt":
        told = {name: value for name, value in receipt.headers.items() if name.startswith("Idempotency-")}
        task = AwaitedTask(
            task_id=receipt.document["id"],
            key_id=self.caller.key_id,
            account_id=self.caller.account_id,
            response_format=self.response_format,
            is_replay=is_replay,
            has_ended=receipt.document["status"] in ENDED,
            headers=told,
        )
        return ImageReceipt(status=receipt.status, document=receipt.document, headers=receipt.headers, task=task)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReceipt(Receipt):
    """The receipt of a task whose pictures the client waits for."""

    task: AwaitedTask


def _format_of_replay(request: Request) -> Format | None:
    """As far as the body can be read; a replay answers whatever is wrong with it."""
    try:
        return image_requests.format_of(bodies.read(request, files=FILES))
    except (InvalidRequest, UnsupportedMediaType):
        return None
