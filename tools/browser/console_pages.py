"""Pages of the console and the reference, for a key that has rows to show."""

from collections.abc import Mapping

from tools.browser.desk_pages import Where, at, row

SHOWN = "web"
"""Key of tools/seed that is signed in."""
TASK = "/console/tasks/{}/"
OF_THE_KEY = f"t.key_id = (SELECT id FROM accounts_apikey WHERE name = '{SHOWN}')"
FILES = "tasks_task t JOIN tasks_asset a ON a.task_id = t.id AND a.deleted_at IS NULL"
PAYLOADS = "tasks_task t JOIN tasks_taskpayload p ON p.task_id = t.id"
DELIVERIES = "tasks_task t JOIN callbacks_delivery d ON d.task_id = t.id"


def task(condition: str, *, of: str = "tasks_task t", order: str = "t.id DESC") -> Where:
    """Returns the page of the key's newest task that meets a condition."""
    return row(TASK, f"SELECT t.id FROM {of} WHERE {OF_THE_KEY} AND {condition} ORDER BY {order}")


def form(model: str) -> Where:
    """Returns the page of the form for a model."""
    return row("/console/create/{}/", f"SELECT name FROM catalog_mediamodel WHERE name = '{model}'")


PAGES: Mapping[str, Where] = {
    "sign-in": at("/console/sign-in/"),
    "create": at("/console/create/"),
    "form-image": form("aurora-image"),
    "form-film": form("comet-video"),
    "form-with-input": row(
        "/console/create/comet-video/?input={}/0",
        f"SELECT t.id FROM {FILES} WHERE {OF_THE_KEY} AND t.modality = 'image' ORDER BY t.id DESC",
    ),
    "form-again": row(
        "/console/create/aurora-image/?again={}",
        f"SELECT t.id FROM {PAYLOADS} WHERE {OF_THE_KEY} AND p.params LIKE '%<script>%' ORDER BY t.id DESC",
    ),
    "live": at("/console/live/"),
    "gallery": at("/console/gallery/"),
    "task": task("t.modality = 'image'", of=FILES),
    "task-film": task("t.modality = 'video'", of=FILES),
    "task-failed": task("t.status = 'failed'"),
    "task-callback": task("d.attempts > 0", of=DELIVERIES, order="d.attempts DESC, t.id DESC"),
    "task-waiting": task("t.status = 'queued'"),
    "task-running": task("t.status = 'running'"),
    "task-strange": task("p.params LIKE '%<script>%'", of=PAYLOADS),
    "task-long": task("length(p.params) > 9000", of=PAYLOADS),
    "usage": at("/console/usage/"),
    "docs": at("/docs/"),
    "docs-tag": at("/docs/callbacks/"),
}
NOT_THERE = TASK.format("task_01kb8r4a1pf0q9d2m7vx3ehyzt")
