"""Reverse proxies on sockets that obey `X-Accel-Redirect`: a tiny one, and nginx as the documents have it."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from tools.children import Child, free_port
from tools.stack import ROOT

INTERNAL = "/internal/"
CONFIGURATION = """
daemon off;
user root;
pid FOLDER/pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path FOLDER/body;
  proxy_temp_path FOLDER/proxy;
  fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi;
  scgi_temp_path FOLDER/scgi;
  server { listen 127.0.0.1:PORT; LOCATIONS }
}
"""


class TinyProxy(ThreadingHTTPServer):
    """Passes requests on, and sends the file below `files` that an answer names, with the answer's own headers."""

    daemon_threads = True

    def __init__(self, port: int, files: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = port
        self.files = files


class Handler(BaseHTTPRequestHandler):
    server: TinyProxy

    def do_GET(self) -> None:
        upstream = HTTPConnection("127.0.0.1", self.server.port)
        upstream.request("GET", self.path, headers=dict(self.headers))
        answer = upstream.getresponse()
        body, headers = answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        upstream.close()
        if place := headers.pop("x-accel-redirect", None):
            assert place.startswith(INTERNAL)
            assert not body
            body = (self.server.files / unquote(place.removeprefix(INTERNAL))).read_bytes()
        self.send_response(answer.status)
        for name, value in {**headers, "content-length": str(len(body)), "connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing is said."""


@contextmanager
def tiny(port: int, files: Path) -> Iterator[str]:
    """Its base URL, before the web process at this port."""
    with TinyProxy(port, files) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
        proxy.shutdown()
        thread.join()


@contextmanager
def nginx(program: str, port: int, files: Path, folder: Path) -> Iterator[str]:
    """The same with the locations of docs/operations.md."""
    own, settings = free_port(), folder / "nginx.conf"
    (locations,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs/operations.md").read_text(), re.DOTALL)
    locations = locations.replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace("/srv/assets/", f"{files}/")
    settings.write_text(
        CONFIGURATION.replace("FOLDER", str(folder)).replace("PORT", str(own)).replace("LOCATIONS", locations)
    )
    child = Child("nginx", [program, "-p", str(folder), "-c", str(settings)], environment={}, log=folder / "nginx.log")
    try:
        child.wait_for_http(f"http://127.0.0.1:{own}/healthz")
        yield f"http://127.0.0.1:{own}"
    finally:
        child.stop()
