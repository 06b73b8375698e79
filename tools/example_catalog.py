"""`python -m tools.example_catalog URL [OLD]`: the example catalog, for the built-in provider at URL.

It is loaded into an empty catalog only. Any other is the operator's: there the channels that lead to OLD, where that
provider was the last time, follow it to URL, and nothing else changes. Prints what was done, and what there is, as
JSON.
"""

import json
import os
import sys
from dataclasses import asdict, dataclass

import django

if __name__ == "__main__":  # models cannot be imported before
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

from django.db import transaction

from accounts.models import Group
from catalog import credentials
from catalog.file.load import load
from catalog.models import Channel, MediaModel, Plan
from tools.stack import CATALOG

PARTS = (MediaModel, Channel, Plan, Group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Whether the example was loaded, which channels have followed the provider, and what the catalog has now."""

    loaded: bool
    moved: list[str]
    models: list[str]
    groups: list[str]


def load_into_empty(url: str | None) -> bool:
    """Load it unless the catalog has anything; whether it did. Without a URL it is that of the environment."""
    if any(part.objects.exists() for part in PARTS):
        return False
    load(CATALOG.read_text(encoding="utf-8"), environment={**os.environ, **({"SANDBOX_URL": url} if url else {})})
    return True


def move(old: str, url: str) -> list[str]:
    """Let the channels that lead to the provider's old origin, and their credentials, lead to the new one."""
    moved = [channel for channel in Channel.objects.order_by("name") if channel.base_url.startswith(f"{old}/")]
    with transaction.atomic():
        for channel in moved:
            known = [credentials.readable(row.ciphertext) for row in credentials.current(channel.pk)]
            channel.base_url = url + channel.base_url.removeprefix(old)
            channel.save()
            credentials.store_all(channel, [values for values in known if values])
    return [channel.name for channel in moved]


def names(part: type[MediaModel] | type[Group]) -> list[str]:
    return list(part.objects.order_by("name").values_list("name", flat=True))


def offer(url: str, old: str = "") -> Offer:
    """Prepare the catalog for a provider at this URL."""
    loaded = load_into_empty(url)
    moved = move(old, url) if old not in ("", url) and not loaded else []
    return Offer(loaded=loaded, moved=moved, models=names(MediaModel), groups=names(Group))


if __name__ == "__main__":
    print(json.dumps(asdict(offer(*sys.argv[1:]))))
