"""The Gemini adapter against the sandbox over a socket, and the sandbox's strictness."""

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from adapters.base import Done, ErrorKind, ImageRef, Target, UpstreamError
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, image_request, stored

adapter = ADAPTERS["gemini_generate_content"]
PATH = "/gemini/v1beta/models/gemini-3-pro-image:generateContent"
SMALL = {"generationConfig": {"imageConfig": {"imageSize": "512"}}}


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, "PNG")
    return file.getvalue()


def submit(sandbox: Any, prompt: str = "a fox", key: str = "any", **fields: Any) -> Done:
    model = fields.pop("model", "gemini-3-pro-image")
    target = Target(adapter=adapter.protocol, base_url=f"{sandbox.url}/gemini", upstream_model=model)
    request = image_request(**({"prompt": prompt, "image_size": "0.5K"} | fields))
    assert adapter.check(request, target) == []
    connection = connection_to(
        target.base_url, credentials={"api_key": key}, files={"one": picture()}, total_timeout=5.0
    )
    done = adapter.submit(adapter.build(request, target), connection)
    assert isinstance(done, Done)
    return done


def made(done: Done) -> list[Any]:
    """The pictures; their files are deleted."""
    found = []
    for output in done.outputs:
        assert isinstance(output.path, Path)
        found.append(Image.open(io.BytesIO(output.path.read_bytes())))
        output.path.unlink()
    return found


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({}, (512, 512)),
        ({"image_size": "1K", "aspect_ratio": "16:9"}, (1360, 768)),
        ({"images": (ImageRef(stored=stored()),)}, (512, 512)),
    ],
)
def test_a_call_brings_one_real_picture(sandbox: Any, fields: dict[str, Any], size: tuple[int, int]) -> None:
    assert [image.size for image in made(submit(sandbox, **fields))] == [size]
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_the_first_of_several_calls_can_end_without_a_picture(sandbox: Any) -> None:
    with pytest.raises(UpstreamError) as caught:
        submit(sandbox, "a fox [partial]")
    assert (caught.value.kind, caught.value.code) == (ErrorKind.EMPTY_RESULT, "NO_IMAGE")
    assert len(made(submit(sandbox, "a fox [partial]"))) == 1


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("[moderated]", ErrorKind.CONTENT_POLICY),
        ("[moderated-output]", ErrorKind.CONTENT_POLICY),
        ("[fail]", ErrorKind.INVALID_REQUEST),
        ("[rate-limited]", ErrorKind.RATE_LIMITED),
        ("[status=503]", ErrorKind.OVERLOADED),
        ("[status=500]", ErrorKind.AMBIGUOUS),
        ("[garbage]", ErrorKind.AMBIGUOUS),
        ("[reset]", ErrorKind.AMBIGUOUS),
    ],
)
def test_words_steer_it(sandbox: Any, prompt: str, kind: ErrorKind) -> None:
    with pytest.raises(UpstreamError) as caught:
        submit(sandbox, prompt)
    assert caught.value.kind is kind
    assert sandbox.audit()["jobs"] == (prompt in ("[garbage]", "[reset]"))


@pytest.mark.parametrize(("key", "kind"), [("wrong", ErrorKind.AUTH), ("broke", ErrorKind.QUOTA_EXHAUSTED)])
def test_bad_keys_are_told_apart_by_a_call_and_by_a_probe(sandbox: Any, key: str, kind: ErrorKind) -> None:
    connection = connection_to(f"{sandbox.url}/gemini", credentials={"api_key": key})
    for attempt in (lambda: submit(sandbox, key=key), lambda: adapter.probe(connection)):
        with pytest.raises(UpstreamError) as caught:
            attempt()
        assert caught.value.kind is kind
    adapter.probe(connection_to(f"{sandbox.url}/gemini"))


def test_an_unknown_model_is_the_models_fault(sandbox: Any) -> None:
    with pytest.raises(UpstreamError) as caught:
        submit(sandbox, model="no-such-model")
    assert caught.value.model_specific


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": "a fox"},
        {"contents": []},
        {"contents": [{"role": "system", "parts": [{"text": "a fox"}]}]},
        {"contents": [{"parts": [{"text": "a fox", "inlineData": {}}]}]},
        {"contents": [{"parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}]},
        {"contents": [{"parts": [{"text": "x"}, {"inlineData": {"mimeType": [], "data": ""}}]}]},
        {"generationConfig": {"imageConfig": {"imageSize": "3K"}}},
        {"generationConfig": {"imageConfig": {"aspectRatio": "7:5"}}},
        {"generationConfig": {"imageConfig": {"size": "1K"}}},
        {"generationConfig": {"candidateCount": 2}},
        {"generationConfig": {"responseModalities": ["TEXT"]}},
        {"generationConfig": 5},
    ],
)
def test_a_bad_body_is_refused_and_buys_nothing(client: Any, sandbox: Any, changes: dict[str, Any]) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "a fox"}]}], **SMALL} | changes
    response = client.call("POST", PATH, json=body, headers={"x-goog-api-key": "any"})
    assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert sandbox.audit()["jobs"] == 0


def test_the_answer_has_the_providers_shape(client: Any) -> None:
    body = {"contents": [{"parts": [{"text": "a fox"}]}], **SMALL}
    answer = client.call("POST", PATH, json=body, headers={"x-goog-api-key": "any"}).json()
    assert answer.keys() == {"candidates", "usageMetadata", "modelVersion", "responseId"}
    thought, text, part = answer["candidates"][0]["content"]["parts"]
    assert (thought["thought"], list(text)) == (True, ["text"])
    assert base64.b64decode(part["inlineData"]["data"]).startswith(b"\x89PNG")
