"""Results that requests refer to, `asset:<task id>/<index>`: found at submission, kept while a live task takes them.

The task keeps the reference beside where the file lies. Its provider gets the bytes, or a URL as that of an upload
(`tasks/assets/uploads.py`), so that it works however long the result's own link or retention is.
"""

from collections.abc import Collection

from common import documents, sql
from common.errors import AssetExpired, TaskNotFound
from tasks.assets import assets, stored_inputs
from tasks.models import Asset
from tasks.request import references
from tasks.request.values import ReferredFile


def find(key_id: int, reference: str) -> ReferredFile | None:
    """The file of a reference of this key; None for another key's result as for one that never was or is deleted."""
    place = references.place_of(reference)
    if place is None:
        return None
    try:
        asset = assets.find(*place, key_id=key_id)
    except (TaskNotFound, AssetExpired):
        return None
    return ReferredFile(
        key=asset.storage_key,
        content_type=asset.content_type,
        size_bytes=asset.size_bytes,
        sha256=asset.sha256,
        reference=reference,
    )


def is_there(file: ReferredFile) -> bool:
    """Whether its bytes are; that retention is over does not matter to a task that was submitted before."""
    return Asset.objects.filter(storage_key=file.key, deleted_at=None).exists()


def held(account_ids: Collection[int]) -> set[str]:
    """The storage keys of all results that live tasks of these accounts refer to."""
    if not account_ids:
        return set()
    rows = sql.records(HOLDING.format(accounts=sql.places(account_ids)), [*account_ids])
    files = (file for row in rows for _, file in stored_inputs.files_of(sql.as_document(row.params)))
    return {str(file["key"]) for file in map(documents.shown, files) if "reference" in file and "key" in file}


# The states are spelled out as in the index that leads to them; a join might begin with all payloads that there are.
HOLDING = """
SELECT (SELECT p.params FROM tasks_taskpayload p
        WHERE p.task_id = t.id AND CAST(p.params AS text) LIKE '%%"asset:task^_%%' ESCAPE '^') AS params
FROM tasks_task t WHERE t.account_id IN ({accounts}) AND t.status IN ('queued', 'running')
"""
