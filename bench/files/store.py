"""Stores one picture for each of the first ended tasks, with the code of the working directory's tree, and prints the
URLs.

Usage: `python -P store.py COUNT < picture`.
"""

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
    """Stores the files; returns for each its account's number, its paths by signature and by key, and its file."""
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
