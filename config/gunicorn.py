"""The web server: `gunicorn -c config/gunicorn.py`, no other argument, from any directory."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

chdir = str(Path(__file__).resolve().parent.parent)
sys.path.insert(0, chdir)

from django.db import DatabaseError  # noqa: E402
from gunicorn.arbiter import Arbiter  # noqa: E402
from gunicorn.glogging import Logger  # noqa: E402

from common import logs  # noqa: E402
from common.database import schema, time_limits  # noqa: E402
from common.process import garbage, pools, scheduling, shutdown  # noqa: E402
from config import settings  # noqa: E402
from tasks import swallowed_counts  # noqa: E402


class ErrorLogger(Logger):  # type: ignore[misc]
    """The server's own words; the access log is the front's, which leaves out queries and their signatures."""

    access_log_enabled = False


wsgi_app = "front.application:application"
bind = f"[{settings.HOST}]:{settings.PORT}" if ":" in settings.HOST else f"{settings.HOST}:{settings.PORT}"
worker_class = "front.server.worker.WebWorker"
workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
worker_connections = settings.MAX_CONNECTIONS
control_socket_disable = True

# Without a request in progress, also before the first one. Load balancers keep idle connections up to a minute:
# closing ours first would cost them requests.
keepalive = 75
# Waits and streams leave by themselves; what is left at SIGTERM are short requests, and downloads that can resume.
graceful_timeout = 5
# Also how long an upload may pause between two pieces.
timeout = 30

# How long a request may go on whose client has left: the rest of a relayed answer is read for its usage
# (`relay/calls/times.py`). All else leaves by itself.
asgi_disconnect_grace_period = 600

# One behaviour whatever else is installed, and no other protocol than HTTP/1.
asgi_loop = "asyncio"
http_parser = "python"
http_protocols = "h1"
http2_cleartext = "off"
proxy_protocol = "off"

# Signed URLs, cursors and metadata filters are long.
limit_request_line = 65_536
limit_request_field_size = 65_536
limit_request_fields = 100

logger_class = ErrorLogger
logconfig_dict = logs.configuration()


def post_fork(server: Any, worker: Any) -> None:
    time_limits.hold_for_web()


def refuse_other_schema(worker: Any) -> None:
    """End this process, and with it the server, where the database has another schema than this code needs. Where the
    database is away, the server starts all the same: `/readyz` tells.

    The pool is closed again: threads that it has before `scheduling.finish_turns` interrupt those of this process. With
    them it took 1,270 submissions a second, without 1,900."""
    try:
        schema.check()
    except schema.SchemaMismatch as mismatch:
        worker.log.error("%s", mismatch)
        sys.exit(Arbiter.WORKER_BOOT_ERROR)
    except DatabaseError as error:
        worker.log.warning("the database is away, so its schema is not compared: %s", str(error).splitlines()[0])
    pools.close()


def post_worker_init(worker: Any) -> None:
    refuse_other_schema(worker)
    import_module("config.urls")  # all views: else the first request would wait for them
    swallowed_counts.start()
    shutdown.watch(lambda: worker.alive)
    garbage.settle()
    scheduling.finish_turns()
