"""What a program does with a client that was generated from the document: text, lists, and a form with a file.

It runs by itself, in a folder with the package `generated`.
"""

import sys
from io import BytesIO
from typing import Any

from generated import AuthenticatedClient
from generated.api.general_keys import get_usage, list_models
from generated.api.google_content import generate_content
from generated.api.images import edit_image
from generated.api.open_ai_text import create_chat_completion
from generated.models.chat_completion_request import ChatCompletionRequest
from generated.models.generate_content_request import GenerateContentRequest
from generated.models.image_form import ImageForm
from generated.types import File

from tests.sdks.places import DOT, FOX, IMAGE, TEXT, Place


def main(place: Place) -> None:
    openai = AuthenticatedClient(base_url=place.url, token=place.keys["openai"])
    gemini = AuthenticatedClient(base_url=place.url, token=place.keys["gemini"])
    asked = ChatCompletionRequest.from_dict({"model": TEXT, "messages": [{"role": "user", "content": FOX}]})
    chat = told(create_chat_completion.sync_detailed(client=openai, body=asked))
    assert chat["choices"][0]["message"]["content"] == FOX
    assert TEXT in {model["id"] for model in told(list_models.sync_detailed(client=openai))["data"]}
    contents = GenerateContentRequest.from_dict({"contents": [{"role": "user", "parts": [{"text": FOX}]}]})
    answer = told(generate_content.sync_detailed(model=TEXT, client=gemini, body=contents))
    assert answer["candidates"][0]["content"]["parts"][0]["text"] == FOX
    form = ImageForm(model=IMAGE, prompt=FOX, image=[File(BytesIO(DOT), "dot.png", "image/png")])
    assert told(edit_image.sync_detailed(client=openai, body=form))["data"][0]["b64_json"]
    assert told(get_usage.sync_detailed(client=openai))["total"]["calls"] >= 2


def told(answered: Any) -> dict[str, Any]:
    """What the client has made of an answer: None where its document says nothing of it."""
    assert answered.status_code == 200, answered.content
    assert answered.parsed is not None
    document: dict[str, Any] = answered.parsed.to_dict()
    return document


if __name__ == "__main__":
    main(Place.from_environment())
    sys.stdout.write("a generated client: text, lists, usage and a form with a file\n")
