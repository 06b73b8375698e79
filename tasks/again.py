"""An operator submits an ended task again: the same request of the same key, as a new task that is linked to it.

It is routed and priced by the catalog of today, and paid by the customer, as if the key had sent it once more. Never by
itself. The old task stays as it ended.
"""

import logging

from accounts import authentication
from common import sql
from tasks.models import LIVE, Task
from tasks.unknown import resolve, resubmission
from tasks.unknown.open_calls import Refused

logger = logging.getLogger(__name__)


def retry(task_id: str, *, by: str, shown_micros: int | None = None) -> str:
    """Submit an ended task again; returns the new task's id. Raises Refused, also while another retry of it lives, and
    where it would cost another price than the one that was shown.

    One that ended after a call of unknown outcome keeps its price (`resolve.retry`): it may be bought twice.
    """
    task = _ended(task_id)
    if resolve.is_without_outcome(task):
        return resolve.retry(task_id, by=by)
    new = resubmission.draft(task, secret_id=_secret_id(task), agreed_price=None)
    new_id = resubmission.submit(task, new, shown_micros=shown_micros)
    logger.info("task %s: submitted again as %s by %s", task_id, new_id, by)
    return new_id


def quote(task_id: str) -> int:
    """What a retry would cost its customer now, in micro-USD. Raises Refused where there could be none, whatever limits
    and balance say."""
    task = _ended(task_id)
    if resolve.is_without_outcome(task):
        return task.estimated_micros
    _secret_id(task)
    return resubmission.price_today(task).estimate_micros


def _ended(task_id: str) -> Task:
    task: Task | None = Task.objects.select_related("payload").filter(id=task_id).first()
    if task is None:
        raise Refused("There is no such task.")
    if task.status in LIVE:
        raise Refused(f"The task is {task.status}; only one that has ended can be submitted again.")
    return task


def _secret_id(task: Task) -> int:
    """The newest secret that opens for the key: its receiver knows that one. Raises Refused."""
    if newest := sql.column(NEWEST_SECRET.format(valid=authentication.is_valid()), [task.key_id]):
        return int(newest[0])
    raise Refused("Its key could not submit it itself now: it is disabled, has expired, or is no key of the Task API.")


NEWEST_SECRET = """
SELECT ks.id FROM accounts_keysecret ks JOIN accounts_apikey k ON k.id = ks.key_id
JOIN accounts_account a ON a.id = k.account_id
WHERE k.id = %s AND k.binding = 'task' AND k.task_api AND a.billing = 'balance' AND {valid}
ORDER BY ks.id DESC LIMIT 1
"""
