"""A complete receiver of callbacks: Python 3.11, no packages.

TASK_API_KEY=dr-task-… PORT=9000 python receiver.py
"""

import hashlib
import hmac
import json
import os
import sqlite3
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = os.environ["TASK_API_KEY"]
DATABASE = os.environ.get("DATABASE", "received.sqlite3")
MOST_BYTES = 1_000_000


def verify(key, headers, body, window=300):
    """Whether this callback is genuine and fresh; `body` is the raw request body."""
    delivery = headers.get("X-SERVICE-Delivery", "")
    timestamp = headers.get("X-SERVICE-Timestamp", "")
    signature = headers.get("X-SERVICE-Signature", "")
    if not timestamp.isdecimal() or len(timestamp) > 12 or abs(time.time() - int(timestamp)) > window:
        return False
    signed = delivery.encode() + b"." + timestamp.encode() + b"." + body
    expected = "v1=" + hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def take(payload):
    """Act on a callback, once: its id and what follows from it are committed together."""
    with closing(sqlite3.connect(DATABASE)) as database, database:
        is_new = database.execute("INSERT OR IGNORE INTO deliveries VALUES (?)", [payload["id"]]).rowcount
        if is_new:
            task = payload["data"]["task"]
            database.execute("INSERT INTO tasks VALUES (?, ?)", [task["id"], task["status"]])
    print("new" if is_new else "again", payload["id"], payload["type"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return self.reply(413)
        body = self.rfile.read(int(length))
        if not verify(KEY, self.headers, body):
            return self.reply(401)
        take(json.loads(body))
        return self.reply(204)  # only now: the callback is sent again until it sees a 2xx

    def reply(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    with closing(sqlite3.connect(DATABASE)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY)")
        database.execute("CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, status TEXT)")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
