"""OpenAI's list of models."""

from sandbox.openai.errors import authenticate
from sandbox.wire import Endpoint, Request, Response, json_response

MODELS = ("gpt-5.2", "gpt-5.2-mini", "gpt-image-2")
CREATED = 1_760_000_000


class OpenAIModels:
    """The endpoint. Other names of models work, too."""

    def routes(self) -> list[Endpoint]:
        return [("GET", "/openai/v1/models", self.models)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def models(self, request: Request) -> Response:
        """GET: models that a key may call."""
        authenticate(request)
        data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "sandbox"} for name in MODELS]
        return json_response({"object": "list", "data": data})
