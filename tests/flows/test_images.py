"""Pictures in one call, through the whole installation."""

import base64
import io
import socket

from PIL import Image

from tests.flows.conftest import ended
from tools.children import PATIENCE

GENERATIONS, EDITS = "/v1/images/generations", "/v1/images/edits"
ASKED = {"model": "aurora-image", "prompt": "a boat"}


def picture(size: tuple[int, int] = (64, 64)) -> bytes:
    file = io.BytesIO()
    Image.new("RGBA", size).save(file, "png")
    return file.getvalue()


def opened(item: dict) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(item["b64_json"], validate=True)))


def test_pictures_come_in_the_answer_and_are_those_of_their_task(service):
    answer = service.client.post(GENERATIONS, json=ASKED | {"n": 2, "size": "1024x1024"})
    assert (answer.status_code, answer.headers["request-id"]) == (200, answer.headers["X-Request-Id"])
    document, task = answer.json(), ended(service.client, answer.headers["X-Task-Id"])
    assert [opened(item).size for item in document["data"]] == [(1024, 1024)] * 2
    assert (document["size"], document["output_format"], task["actual_cost"]) == ("1024x1024", "png", 0.08)
    first = service.client.get(f"/v1/tasks/{task['id']}/assets/0").content
    assert base64.b64decode(document["data"][0]["b64_json"]) == first


def test_an_edit_takes_files_and_a_mask(service):
    files = [("image[]", ("upload", picture())), ("image[]", ("upload", picture())), ("mask", ("upload", picture()))]
    answer = service.client.post(EDITS, data=ASKED | {"n": "1", "response_format": "b64_json"}, files=files)
    assert answer.status_code == 200, answer.text
    (item,) = answer.json()["data"]
    assert (list(item), opened(item).format) == (["b64_json"], "PNG")


def test_a_picture_that_is_refused_is_an_error_in_openais_shape(service):
    answer = service.client.post(GENERATIONS, json=ASKED | {"prompt": "a fox [moderated]"})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (400, *["TASK_CONTENT_REJECTED"] * 2)
    assert answer.headers["x-should-retry"] == "false"
    assert ended(service.client, answer.headers["X-Task-Id"])["actual_cost"] == 0


def test_a_large_body_without_a_key_is_neither_asked_for_nor_waited_for(service):
    connection = socket.create_connection(("127.0.0.1", int(service.stack.environment["PORT"])), timeout=PATIENCE)
    with connection:
        head = (
            b"POST /v1/images/edits HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 999999\r\n"
        )
        connection.sendall(head + b"Content-Type: multipart/form-data; boundary=x\r\n\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")
