"""Real web, worker and sandbox processes on a database of their own, and an HTTP client for them."""

import os
from pathlib import Path

import requests

from tools.children import PATIENCE, free_port
from tools.stack import Stack

# A web server that never gives up on a client, a request or its own process, however busy the machine is.
PATIENT = {"GUNICORN_CMD_ARGS": "--timeout 3600 --graceful-timeout 3600"}


class Client(requests.Session):
    """Sends the key with every request; paths are relative to the web process."""

    def __init__(self, base_url: str, key: str = "") -> None:
        super().__init__()
        self.base_url = base_url
        self.trust_env = False
        if key:
            self.headers["Authorization"] = f"Bearer {key}"

    def request(self, method, url, *arguments, timeout=PATIENCE, **options):  # type: ignore[no-untyped-def]
        return super().request(method, f"{self.base_url}{url}", *arguments, timeout=timeout, **options)


class TestStack(Stack):
    """A stack on a fresh database, with loopback receivers allowed. The `stack` fixture makes and stops it."""

    __test__ = False

    def __init__(self, *, database_url: str, folder: Path) -> None:
        port = free_port()
        self.clients: list[Client] = []
        super().__init__(
            environment={
                **os.environ,
                "DATABASE_URL": database_url,
                "ASSET_STORAGE": f"file://{folder / 'assets'}",
                "HOST": "127.0.0.1",
                "PORT": str(port),
                "PUBLIC_BASE_URL": f"http://127.0.0.1:{port}",
                "ALLOWED_HOSTS": "127.0.0.1,localhost",
                "OUTBOUND_ALLOW_NETWORKS": "127.0.0.0/8",
                **PATIENT,
            },
            folder=folder,
        )

    def client(self, key: str = "") -> Client:
        """Closed with the stack."""
        client = Client(self.base_url, key)
        self.clients.append(client)
        return client

    def create_key(self, *, credit: str = "10", account: str = "tester") -> str:
        """The secret of a Task API key of a new account."""
        self.manage("create_account", account, "--credit", credit)
        return str(self.manage_json("create_key", account, "--videos")["key"])

    def logs(self) -> str:
        """Everything that any process has printed."""
        return "\n".join(child.text() for child in self.children)

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        super().stop()
