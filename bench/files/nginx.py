"""Runs nginx with one process, as a file server and as a proxy that serves files for us (ASSET_ACCEL)."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.model import Missing
from bench.surroundings import Bench
from tools.children import Child, free_port

STORED, INTERNAL = "/stored/", "/internal/"
CONFIGURATION = """
daemon off;
user root;
worker_processes 1;
pid FOLDER/pid;
events { worker_connections 256; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  client_body_temp_path FOLDER/body;
  proxy_temp_path FOLDER/proxy;
  fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi;
  scgi_temp_path FOLDER/scgi;
  upstream service { server SERVICE; keepalive 32; }
  server {
    listen 127.0.0.1:PORT;
    location STORED { alias FILES/; }
    location INTERNAL { internal; alias FILES/; }
    location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
"""


@contextmanager
def running(bench: Bench, *, files: Path, service: str) -> Iterator[str]:
    """Yields its base URL: it serves the files below STORED, and passes everything else to the service (host and port).
    Raises Missing."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise Missing("nginx")
    folder, port = Path(tempfile.mkdtemp(dir=bench.folder)), free_port()
    values = {"FOLDER": folder, "SERVICE": service, "PORT": port, "STORED": STORED, "INTERNAL": INTERNAL}
    text = CONFIGURATION
    for name, value in {**values, "FILES": files}.items():
        text = text.replace(name, str(value))
    (folder / "nginx.conf").write_text(text)
    command = [program, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    child = Child("nginx", command, environment={}, log=folder / "log")
    try:
        child.wait_for_http(f"http://127.0.0.1:{port}/healthz")
        yield f"http://127.0.0.1:{port}"
    finally:
        child.stop()
