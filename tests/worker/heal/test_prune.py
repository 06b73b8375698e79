"""The janitor's retention works until nothing is due, or until the worker stops."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from tasks.assets import retention
from tasks.models import Asset
from tests.rows import make_task
from worker.heal import deadlines

pytestmark = pytest.mark.django_db
COUNT = 2 * retention.BATCH + 50


@pytest.fixture(autouse=True)
def due(root, key) -> None:
    """More assets past their retention than one batch takes; their files are gone already."""
    task, old = make_task(key), timezone.now() - timedelta(days=8)
    fields = {"kind": "image", "content_type": "image/png", "size_bytes": 1, "sha256": "a" * 64}
    assets = [Asset(task=task, position=n, storage_key=f"results/{n}", **fields) for n in range(COUNT)]
    Asset.objects.bulk_create(assets)
    Asset.objects.update(created_at=old)


def test_retention_works_until_nothing_is_due():
    deadlines.prune(threading.Event())
    assert retention.due().assets == 0


def test_a_worker_that_stops_finishes_the_batch_in_hand():
    stopping = threading.Event()
    stopping.set()
    deadlines.prune(stopping)
    assert retention.due().assets == COUNT - retention.BATCH
