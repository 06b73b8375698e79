"""Look-up of a key's own results as inputs, named "task/position" in forms."""

import re

from common import ids
from common.errors import TaskNotFound
from tasks.assets import assets
from tasks.models import Asset
from tasks.request import references

PLACE = re.compile(r"([^/]{1,40})/(0|[1-9][0-9]{0,3})")


def find(key_id: int, place: str) -> Asset:
    """Find the result file "task/position" of this key. Raises TaskNotFound, and AssetExpired once it is deleted."""
    found = PLACE.fullmatch(place)
    if not found or not ids.is_task_id(found[1]):
        raise TaskNotFound()
    return assets.find(found[1], int(found[2]), key_id=key_id)


def reference(key_id: int, place: str) -> str:
    """Build the reference for a request. Raises like `find`."""
    asset = find(key_id, place)
    return references.to(asset.task_id, asset.position)
