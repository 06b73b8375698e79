"""Gives the first ended tasks a stored picture each, with the code of the tree that it runs in, and prints where each
can be had. The picture comes by standard input: `python -P store.py COUNT < picture`, with the tree as its folder."""

import json
import os
import sys


def main() -> None:
    sys.path.insert(0, os.getcwd())
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    print(json.dumps(stored(sys.stdin.buffer.read(), int(sys.argv[1]))))


def stored(picture: bytes, count: int) -> list[dict[str, object]]:
    """Of each the number of its account, its path by signature and by key, and its file in the storage."""
    from dataclasses import asdict
    from urllib.parse import urlsplit

    from django.utils import timezone

    from tasks.assets import assets, links
    from tasks.models import Asset, Task

    found: list[dict[str, object]] = []
    for task in Task.objects.order_by("id")[:count]:
        asset = Asset.objects.create(task=task, position=0, **asdict(assets.store([picture], kind="image")))
        link = urlsplit(links.to(asset, timezone.now())[0])
        paths = {"signed": f"{link.path}?{link.query}", "keyed": f"/v1/tasks/{task.pk}/assets/0"}
        found.append({"account": task.account_id, "file": asset.storage_key, **paths})
    return found


if __name__ == "__main__":
    main()
