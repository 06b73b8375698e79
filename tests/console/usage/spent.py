"""Charges of any moment and task. The ledger is read by its ids, so they are booked in the order of their moments."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from accounts.models import Account
from tasks.models import Task
from tests.billing.entries import book
from tests.rows import IssuedKey, make_task

PICTURE = {"mode": "image_matrix", "tier": "1K", "unit_micros": 40_000, "quantity": 1, "results": 1}
SECOND = {"mode": "video_duration", "tier": "720p", "unit_micros": 100_000, "quantity": 5, "results": 1}
REQUEST = {"mode": "per_request", "tier": "*", "unit_micros": 300_000, "quantity": 1, "results": 1}


OPENED = datetime(2026, 9, 1, tzinfo=UTC)


def opened(name: str) -> Account:
    """An account that began with 10 USD."""
    account = Account.objects.create(name=name)
    book(account, OPENED, 10_000_000, reference=f"credit-{name}")
    account.refresh_from_db()
    return account


def charge(
    key: IssuedKey,
    at: datetime,
    micros: int = 40_000,
    *,
    model: str = "aurora-image",
    modality: str = "image",
    price: Mapping[str, Any] = PICTURE,
) -> Task:
    """A task of the key that was charged at this moment."""
    task = make_task(key, model_name=model, modality=modality)
    task.price = dict(price)
    task.save()
    book(key.account, at, -micros, "charge", reference=task.id)
    return task
