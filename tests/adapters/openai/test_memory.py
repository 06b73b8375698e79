"""A large answer never stands in memory."""

import json
import subprocess
import sys
from pathlib import Path

from tools.children import PATIENCE
from tools.stack import ROOT

MEGABYTE = 1024 * 1024
SCRIPT = """
import base64, http.server, json, resource, sys, threading
from pathlib import Path
from adapters.openai.images import OpenAIImages
from tests.adapters.making import connection_to, image_request, image_target

class Provider(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        chunk = base64.b64encode(bytes(48 * 1024))
        chunks = SIZE // len(chunk)
        head, tail = b'{"data": [{"b64_json": "', b'"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(head) + chunks * len(chunk) + len(tail)))
        self.end_headers()
        self.wfile.write(head)
        for _ in range(chunks):
            self.wfile.write(chunk)
        self.wfile.write(tail)
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
adapter = OpenAIImages()
connection = connection_to(f"http://127.0.0.1:{server.server_port}", scratch_dir=Path(sys.argv[1]))
peaks, sizes = [], []
for SIZE in (64 * 1024, 60 * 1024 * 1024):
    done = adapter.submit(adapter.build(image_request(), image_target()), connection)
    sizes.append(done.outputs[0].path.stat().st_size)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
print(json.dumps({"sizes": sizes, "growth": peaks[1] - peaks[0]}))
"""


def test_sixty_megabytes_of_base64_take_less_than_sixteen_of_memory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["sizes"] == [48 * 1024, 45 * MEGABYTE]
    assert seen["growth"] < 16 * MEGABYTE
