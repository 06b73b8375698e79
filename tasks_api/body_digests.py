"""The digest of a replay's body as JSON. A large one is parsed once: its bytes are known again by their own digest."""

import hashlib
from collections import OrderedDict
from threading import Lock

from common import strict_json

LARGE_BYTES = 64 * 1024
MOST = 10_000
_lock = Lock()
_known: OrderedDict[bytes, str] = OrderedDict()


def of(raw: bytes) -> str:
    """As `strict_json.digest`, which is slower by far."""
    if len(raw) <= LARGE_BYTES:
        return strict_json.digest(raw)
    own = hashlib.sha256(raw).digest()
    digest = _known.get(own) or strict_json.digest(raw)
    with _lock:
        _known[own] = digest
        _known.move_to_end(own)
        if len(_known) > MOST:
            _known.popitem(last=False)
    return digest
