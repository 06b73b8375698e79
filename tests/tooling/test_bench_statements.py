"""What the benchmark reads out of PostgreSQL's log."""

from bench import statements

LOG = """worker|LOG:  statement: BEGIN
worker|LOG:  execute <unnamed>: SELECT 1 FROM tasks_task
worker|LOG:  execute _pg3_0: UPDATE tasks_worker SET heartbeat_at = now()
 WHERE id = $1
worker|DETAIL:  parameters: $1 = 'SELECT'
worker|LOG:  statement: COMMIT
web|LOG:  statement: LISTEN darkroom
|LOG:  received SIGHUP, reloading configuration files
"""


def test_statements_are_counted_by_application_without_those_of_transactions():
    assert statements.count(LOG) == {"worker": 2, "web": 1}
