"""Large bodies that are refused, each for a reason of its own, and a client that sends them."""

import socket
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPResponse

from tools.children import PATIENCE

WIDE = "\N{GRINNING FACE}"  # one such character, and Python keeps four bytes of each
FORM = "multipart/form-data; boundary=edge"
PRICES = {"prices": {"gpt-*": {"input": "2", "output": "8"}}, "image_prices": {"gpt-image-*": "0.04"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request whose body is `begin`, letters up to the size that is wanted, and `end`; and how it is answered."""

    name: str
    path: str
    begin: str
    end: str
    status: int
    content_type: str = "application/json"

    def body(self, size: int) -> bytes:
        begin, end = self.begin.encode(), self.end.encode()
        return begin + b"x" * (size - len(begin) - len(end)) + end


def sent(port: int, secret: str, request: Refused, body: bytes) -> int:
    """The status of the answer."""
    headers = {
        "Host": "127.0.0.1",
        "Authorization": f"Bearer {secret}",
        "Content-Type": request.content_type,
        "Content-Length": str(len(body)),
    }
    lines = [f"POST {request.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE)) as connection:
        connection.sendall("\r\n".join(lines).encode())
        connection.sendall(body)
        with closing(HTTPResponse(connection)) as answer:
            answer.begin()
            answer.read()
            return answer.status


def chat(name: str, status: int, *, model: str = "gpt-5", more: str = "", end: str = "", path: str = "") -> Refused:
    begin = f'{{"model": "{model}", {more} "messages": [{{"role": "user", "content": "'
    end = end or f'{WIDE}"}}]}}'
    path = path or "/v1/chat/completions"
    return Refused(name=name, path=path, begin=begin, end=end, status=status)


def task(name: str, status: int, begin: str, end: str, *, path: str = "/v1/tasks") -> Refused:
    return Refused(name=name, path=path, begin=begin, end=end, status=status)


def form(name: str, path: str, status: int, part: str, model: str) -> Refused:
    """Its file, or its text, is large."""
    fields = f'--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\n{model}\r\n'
    begin = f"{fields}--edge\r\nContent-Disposition: form-data; {part}\r\n\r\n"
    return Refused(
        name=name,
        path=path,
        begin=begin,
        end=f"{WIDE}\r\n--edge--\r\n",
        status=status,
        content_type=FORM,
    )


PROMPT = '{"model": "aurora-image", "modality": "image", "params": {"prompt": "'
OPTIONS = '{"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox", "extra_body": {"x": "'
IMAGES = (
    '{"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox", "images": ["data:image/png;base64,'
)
FILE, TEXT = 'name="image"; filename="a.png"', 'name="prompt"'

# Of a general key without balance; and of a Task key without balance.
RELAYED = (
    chat("no balance", 429),
    chat("unknown model", 404, model="llama-1"),
    chat("bad field", 400, more='"max_tokens": "ten",'),
    chat("bad end", 400, end=f'{WIDE}"}}}}'),
    chat("bad character", 400, end='\x01"}]}'),
    chat("messages", 402, more='"max_tokens": 10,', path="/v1/messages"),
    form("file", "/v1/images/edits", 429, FILE, "gpt-image-2"),
    form("text", "/v1/images/edits", 404, TEXT, "llama-1"),
)
TASKS = (
    task("long prompt", 400, PROMPT, f'{WIDE}"}}}}'),
    task("bad end of a task", 400, PROMPT, f'{WIDE}"}}'),
    task("bad character of a task", 400, PROMPT, '\\ud800"}}'),
    task("quote", 400, PROMPT, f'{WIDE}"}}}}', path="/v1/tasks/quote"),
    task("options", 400, OPTIONS, f'{WIDE}"}}}}}}'),
    task("pictures", 400, IMAGES, f'{WIDE}"]}}}}'),
    form("file of a task", "/v1/images/edits", 400, FILE, "aurora-image"),
    form("text of a task", "/v1/images/edits", 400, TEXT, "aurora-image"),
    form("film", "/v1/videos", 400, 'name="input_reference"; filename="a.png"', "comet-video"),
)
