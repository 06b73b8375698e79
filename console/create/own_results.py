"""Results of the key's own as inputs of its next task. In a form they are called "task/position"."""

import re
import time

from django.conf import settings

from common import ids
from common.errors import TaskNotFound
from tasks.assets import assets, links
from tasks.models import Asset
from tasks.shown.exhibits import LINK_SECONDS

PLACE = re.compile(r"([^/]{1,40})/(0|[1-9][0-9]{0,3})")


def find(key_id: int, place: str) -> Asset:
    """The result file "task/position" of this key. Raises TaskNotFound, and AssetExpired once it is deleted."""
    found = PLACE.fullmatch(place)
    if not found or not ids.is_task_id(found[1]):
        raise TaskNotFound()
    return assets.find(found[1], int(found[2]), key_id=key_id)


def url(key_id: int, place: str) -> str:
    """The URL by which a request takes it; the same for minutes. Raises as `find`."""
    begun = int(time.time()) // LINK_SECONDS * LINK_SECONDS
    return links.own(find(key_id, place), expires=begun + max(settings.ASSET_URL_TTL, 2 * LINK_SECONDS))
