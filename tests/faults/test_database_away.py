"""A database that goes away under a worker, or is not there when it starts."""

import secrets
import threading

import pytest
from django.db import connection

from tests.databases import execute, renamed
from tests.faults.scenes import end_sessions, ended
from tests.worker.driving import film, picture

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database does not go away"),
]
CUTS = 12
CUT_SECONDS = 0.5


def test_connections_cut_again_and_again_lose_nothing(start_worker, key, sandbox):
    start_worker()
    tasks = [picture(key, f"fox {n} [slow=0.2]") for n in range(20)] + [film(key, f"hen {n}") for n in range(20)]
    is_over = threading.Event()

    def cut():
        # A bounded number of cuts: on a busy machine a worker that is cut for ever may get nothing done between two.
        for _ in range(CUTS):
            if is_over.wait(CUT_SECONDS):
                break
            end_sessions()

    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        outcomes = ended(*tasks, timeout=90)
    finally:
        is_over.set()
        cutter.join()
    assert set(outcomes) == {"succeeded"}
    assert sandbox.audit()["jobs"] == 40


@pytest.mark.slow
def test_a_worker_waits_for_a_database_that_is_not_there_yet(crew, databases):
    name = f"darkroom_{secrets.token_hex(6)}"
    worker = crew.start_worker(DATABASE_URL=renamed(databases.server, name))
    worker.wait_for_line("the database is away")
    execute(databases.server, "CREATE DATABASE {} TEMPLATE {}", name, databases.template)
    worker.wait_for_line(r"worker \w+ starts")
    worker.stop()
    execute(databases.server, "DROP DATABASE {} WITH (FORCE)", name)
