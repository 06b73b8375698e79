"""The name server of a hostile customer, as the system's resolver shows it to a process."""

import socket
import time
from typing import Any

from django.apps import AppConfig

SILENT_SECONDS = 10.0
"""How long the system's resolver asks a server that is silent: twice for five seconds."""
HERE = (".tarpit.example", ".honest.example")
asked_system = socket.getaddrinfo


class Names(AppConfig):
    name = "tests.faults.hostile"

    def ready(self) -> None:
        socket.getaddrinfo = resolve


def resolve(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
    """What `socket.getaddrinfo` does: any name in HERE is this machine, of any other the server is silent."""
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name.endswith(HERE):
        return asked_system("127.0.0.1", port, *arguments, **options)
    if name.endswith(".example"):
        time.sleep(SILENT_SECONDS)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return asked_system(host, port, *arguments, **options)
