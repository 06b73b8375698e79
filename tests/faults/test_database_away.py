"""A database that goes away under a worker, or is not there when it starts."""

import secrets

import pytest
from django.db import connection

from tests.databases import execute, renamed
from tests.faults.scenes import end_sessions, ended
from tests.worker.driving import film, picture
from tools.children import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database does not go away"),
]
CUTS, CALLS_BETWEEN = 12, 3


def test_connections_cut_again_and_again_lose_nothing(start_worker, key, sandbox):
    start_worker()
    tasks = [picture(key, f"fox {n} [slow=0.2]") for n in range(20)] + [film(key, f"hen {n}") for n in range(20)]
    for cut in range(CUTS):
        # Some get through between two cuts: a worker that is cut for ever may get nothing done.
        wait_until(lambda: sandbox.audit()["jobs"] > cut * CALLS_BETWEEN, what="paid calls")  # noqa: B023
        end_sessions()
    assert set(ended(*tasks)) == {"succeeded"}
    assert sandbox.audit()["jobs"] == 40


def test_a_worker_waits_for_a_database_that_is_not_there_yet(crew, databases):
    name = f"darkroom_{secrets.token_hex(6)}"
    worker = crew.start_worker(DATABASE_URL=renamed(databases.server, name))
    worker.wait_for_line("the database is away")
    execute(databases.server, "CREATE DATABASE {} TEMPLATE {}", name, databases.template)
    worker.wait_for_line(r"worker \w+ starts")
    worker.stop()
    execute(databases.server, "DROP DATABASE {} WITH (FORCE)", name)
