"""Files of ours among the inputs of video tasks, uploads and results that were referred to: the URL by which a provider
fetches one while the task lives, and what is behind it.

Uploads are stored as Data URLs are, and deleted with them (`tasks/assets/stored_inputs.py`). Nobody but the provider
gets to know such a URL, and it is no input of another task.
"""

from django.conf import settings
from django.utils import timezone

from adapters.base import StoredFile
from common import documents, ids
from common.documents import Unreadable
from common.errors import AssetExpired
from storage import blobs, media_types
from tasks.assets import links, signed_urls
from tasks.assets.signed_urls import Grant
from tasks.models import LIVE, Asset, TaskPayload

NOBODYS = ids.PREFIX + "0" * ids.LENGTH


def url(task_id: str, index: int, file: StoredFile) -> str:
    """A fresh URL of the input at this index, of the storage itself where that signs some."""
    row, found = _row(task_id, index, file), media_types.of(file.content_type)
    seconds: int = settings.ASSET_URL_TTL
    signed = blobs.presigned_url(
        file.key, seconds=seconds, content_type=found.content_type, disposition=links.disposition(row)
    )
    expires = int(timezone.now().timestamp()) + seconds
    return signed or signed_urls.mint(
        Grant(task_id=task_id, index=index, expires=expires, is_input=True), found.extension
    )


def example(content_type: str) -> str:
    """A URL as `url` makes them, by which routes are judged before there is a task. It opens nothing."""
    return url(NOBODYS, 0, StoredFile(key="inputs/none", content_type=content_type, size_bytes=0, sha256=""))


def find(task_id: str, index: int) -> tuple[Asset, int]:
    """The file of an input of a live task, in the shape of a result's row, and the account. Raises AssetExpired."""
    rows = TaskPayload.objects.filter(task_id=task_id, task__status__in=LIVE)
    listed, account_id = rows.values_list("params__inputs", "task__account_id").first() or (None, 0)
    found = documents.elements(listed)
    try:
        file = documents.read(StoredFile, documents.shown(found[index]).get("stored"))
    except (IndexError, Unreadable):
        raise AssetExpired() from None
    return _row(task_id, index, file), account_id


def _row(task_id: str, index: int, file: StoredFile) -> Asset:
    return Asset(
        task_id=task_id,
        position=index,
        kind="image",
        storage_key=file.key,
        content_type=file.content_type,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        created_at=timezone.now(),
    )
