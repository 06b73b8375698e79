"""Tells public addresses from addresses of stored objects in somebody's account."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from relay.families.requests.media import folded

# A file in the operator's account, on any host.
STORED_FILE = re.compile(r"/v1\w*/+files/", re.IGNORECASE)
OWN_HOSTS = re.compile(r"(?:^|\.)(?:googleapis|googleusercontent)\.com\.?$", re.IGNORECASE)
UNCLEAR = re.compile(r"[\\\s\x00-\x1f\x7f]")


def is_public(file: Mapping[str, Any]) -> bool:
    """Tells whether all addresses of a `fileData` are public."""
    return all(_is_public(url) for name, url in file.items() if folded(name) == "fileuri" and url is not None)


def _is_public(url: Any) -> bool:
    if not isinstance(url, str) or UNCLEAR.search(url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    path = unquote(unquote(parts.path)).replace("\\", "/")
    is_stored = STORED_FILE.search(path) is not None or OWN_HOSTS.search(host) is not None
    return parts.scheme.lower() in ("http", "https") and bool(host) and not is_stored
