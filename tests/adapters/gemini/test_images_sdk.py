"""What goes to the Gemini API parses in the types of Google's own SDK, and the words that come back are all known."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.base import ImageRef, Target, TaskRequest
from adapters.gemini.errors import STOPS
from adapters.gemini.request import SETTINGS, TIERS
from adapters.kit.inline import InlineJson, Picture
from adapters.registry import ADAPTERS
from tests.adapters.making import PNG, image_request, stored

types = pytest.importorskip("google.genai.types")
adapter = ADAPTERS["gemini_generate_content"]
EXTRA = {"seed": 7, "temperature": 0.5, "imageConfig": {"aspectRatio": "21:9"}}


def sent(request: TaskRequest, folder: Path) -> Any:
    """The body as it goes out, its pictures filled in."""
    target = Target(adapter=adapter.protocol, base_url="https://gemini.example.com", upstream_model="gemini-3")
    upstream = adapter.build(request, target)
    path = folder / "picture"
    path.write_bytes(PNG)
    pictures = [Picture(path=path, content_type="image/png") for _ in upstream.files]
    return json.loads(b"".join(InlineJson(upstream.body, pictures, "base64")))


@pytest.mark.parametrize(
    "changes",
    [
        {"image_size": None, "aspect_ratio": None},
        *({"image_size": tier} for tier in TIERS),
        {"images": (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/a.png"))},
        {"extra_body": EXTRA},
    ],
)
def test_a_body_parses(changes: dict[str, Any], tmp_path: Path) -> None:
    body = sent(image_request(**changes), tmp_path)
    assert body.keys() == {"contents", "generationConfig"}
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    config = types.GenerateContentConfig.model_validate(body["generationConfig"])
    assert contents[0].parts[0].text == "a fox"
    assert [part.inline_data.data for part in contents[0].parts[1:]] == [PNG] * len(changes.get("images", ()))
    assert config.response_modalities == ["IMAGE"]
    assert not config.image_config or config.image_config.aspect_ratio in ("1:1", "21:9")


def test_a_field_that_the_sdk_does_not_know_would_be_seen(tmp_path: Path) -> None:
    body = sent(image_request(extra_body={"generationConfig": {"imageConfig": {"size": "1K"}}}), tmp_path)
    with pytest.raises(ValueError, match="size"):
        types.GenerateContentConfig.model_validate(body["generationConfig"])


def test_the_settings_are_those_of_the_sdk() -> None:
    config = types.GenerationConfig.model_fields.values()
    assert {field.alias for field in config} | {"imageConfig"} == SETTINGS.names


def test_every_reason_to_stop_has_been_judged() -> None:
    harmless = {
        *("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "LANGUAGE", "OTHER", "IMAGE_OTHER", "NO_IMAGE"),
        *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"),
        *("MALFORMED_RESPONSE", "CONTINUATION"),
    }
    assert {reason.value for reason in types.FinishReason} == harmless | set(STOPS)
