"""Makes the body of a callback, anew for each attempt; `callbacks/sender.py` signs and sends it."""

from callbacks.deliveries import Due
from common import money
from tasks.shown import representation


def make(due: Due, timestamp: int) -> bytes:
    """The payload as UTF-8 JSON: `created_at` is this attempt's time, `data.task` what GET answers now."""
    (task,) = representation.find("t.id = %s", [due.task_id])
    payload = {
        "id": due.id,
        "type": f"task.{task.status}",
        "created_at": timestamp,
        "data": {"task": representation.represent(task)},
    }
    return money.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
