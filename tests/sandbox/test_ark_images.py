"""The Ark image adapter against the sandbox over a socket, and the sandbox's strictness."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from adapters.base import Connection, Done, ErrorKind, ImageRef, Target, UpstreamError
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, image_request, stored

adapter = ADAPTERS["ark_images"]
PATH = "/ark/api/v3/images/generations"
SMALL = {"size": "1280x720"}


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, "PNG")
    return file.getvalue()


def connected(sandbox: Any, key: str = "any") -> Connection:
    return connection_to(
        f"{sandbox.url}/ark/api/v3", credentials={"api_key": key}, files={"one": picture()}, total_timeout=5.0
    )


def submit(sandbox: Any, prompt: str = "a fox", key: str = "any", **fields: Any) -> Done:
    model = fields.pop("model", "seedream-4")
    target = Target(adapter=adapter.protocol, base_url=f"{sandbox.url}/ark/api/v3", upstream_model=model)
    request = image_request(**({"prompt": prompt, "extra_body": SMALL} | fields))
    assert adapter.check(request, target) == []
    done = adapter.submit(adapter.build(request, target), connected(sandbox, key))
    assert isinstance(done, Done)
    return done


def sizes(done: Done, connection: Connection) -> list[tuple[str, tuple[int, int]]]:
    """Format and size of each picture; files are deleted."""
    found = []
    for output in done.outputs:
        with adapter.open_output(output, connection) as chunks:
            image = Image.open(io.BytesIO(b"".join(chunks)))
        found.append((str(image.format), image.size))
        if isinstance(output.path, Path):
            output.path.unlink()
    return found


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("JPEG", (1280, 720))),
        ({"images": (ImageRef(stored=stored()),), "extra_body": {}}, ("JPEG", (1024, 1024))),
        ({"extra_body": SMALL | {"response_format": "b64_json", "output_format": "png"}}, ("PNG", (1280, 720))),
    ],
)
def test_a_call_brings_one_real_picture(sandbox: Any, fields: dict[str, Any], expected: Any) -> None:
    assert sizes(submit(sandbox, **fields), connected(sandbox)) == [expected]
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_the_first_of_several_calls_can_end_without_a_picture(sandbox: Any) -> None:
    with pytest.raises(UpstreamError) as caught:
        submit(sandbox, "a fox [partial]")
    assert caught.value.kind is ErrorKind.EMPTY_RESULT
    assert len(submit(sandbox, "a fox [partial]").outputs) == 1


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
    for attempt in (lambda: submit(sandbox, key=key), lambda: adapter.probe(connected(sandbox, key))):
        with pytest.raises(UpstreamError) as caught:
            attempt()
        assert caught.value.kind is kind
    adapter.probe(connected(sandbox))


def test_an_unknown_model_is_the_models_fault(sandbox: Any) -> None:
    with pytest.raises(UpstreamError) as caught:
        submit(sandbox, model="no-such-model")
    assert caught.value.model_specific


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"n": 2}, "n"),
        ({"prompt": ""}, "prompt"),
        ({"size": "8K"}, "size"),
        ({"size": "512x512"}, "size"),
        ({"size": "16384x512"}, "size"),
        ({"size": []}, "size"),
        ({"image": "data:image/png;base64,AAAA"}, "image"),
        ({"image": ["https://x.example.com/a.png"] * 15}, "image"),
        ({"image": 5}, "image"),
        ({"watermark": "no"}, "watermark"),
        ({"response_format": "png"}, "response_format"),
        ({"sequential_image_generation": "auto"}, "sequential_image_generation"),
        ({"stream": True}, "stream"),
    ],
)
def test_a_bad_field_is_refused_by_name_and_buys_nothing(
    client: Any, sandbox: Any, changes: dict[str, Any], param: str
) -> None:
    response = client.call("POST", PATH, json={"model": "seedream-4", "prompt": "a fox", **SMALL} | changes)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert sandbox.audit()["jobs"] == 0


def test_the_answer_has_the_providers_shape(client: Any) -> None:
    answer = client.call("POST", PATH, json={"model": "seedream-4", "prompt": "a fox", **SMALL}).json()
    assert answer.keys() == {"model", "created", "data", "usage"}
    assert answer["data"][0].keys() == {"url", "size"}
    assert answer["usage"]["generated_images"] == 1
