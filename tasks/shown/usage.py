"""A key's own spend: by day and model, with the account's balance (contract section 4, an addition)."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce, TruncDate

from common.money import usd
from tasks.gate import Caller
from tasks.models import Task


def of(caller: Caller) -> dict[str, Any]:
    """{object, balance, held, currency, total, by_day, by_model}; costs in USD, days in UTC."""
    mine = Task.objects.filter(key_id=caller.key_id)
    sums = {"tasks": Count("id"), "micros": Coalesce(Sum("actual_micros"), 0)}
    by_day = mine.annotate(day=TruncDate("created_at")).values("day").annotate(**sums).order_by("-day")
    by_model = mine.values("model_name", "modality").annotate(**sums).order_by("model_name", "modality")
    return {
        "object": "usage",
        "currency": "USD",
        "balance": usd(caller.balance_micros),
        "held": usd(caller.held_micros),
        "total": _figures(mine.aggregate(**sums)),
        "by_day": [{"date": row["day"].isoformat(), **_figures(row)} for row in by_day],
        "by_model": [{"model": row["model_name"], "modality": row["modality"], **_figures(row)} for row in by_model],
    }


def _figures(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"tasks": row["tasks"], "cost": usd(row["micros"])}
