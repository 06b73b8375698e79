"""Steps with bills that tests take without a page."""

from datetime import timedelta

from django.utils import timezone

from catalog.models import Channel
from desk.bills import imports
from desk.bills.columns import BillColumns
from desk.bills.imports import Period
from desk.models import ProviderBill

NOW, DAY = timezone.now(), timedelta(days=1)
# Midnight may pass while the tests run.
THESE_DAYS = Period(first=(NOW - DAY).date(), last=(NOW + DAY).date())


def content(*lines: str) -> bytes:
    return "\n".join([*lines, ""]).encode()


def compared(
    channel: Channel,
    *lines: str,
    columns: BillColumns | None = None,
    period: Period | None = THESE_DAYS,
) -> ProviderBill:
    """A bill of these lines, the first of which is its head. What was bought now is in its period."""
    bill, _ = imports.receive(channel, "bill.csv", content(*lines), by="ada")
    imports.compare(bill, columns or BillColumns(upstream_id="id", amount="cost"), period)
    return bill
