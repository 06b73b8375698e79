"""Where in the ledger a span of time lies."""

from datetime import datetime

from common.database import id_ranges
from common.database.id_ranges import GrowingTable

LEDGER = GrowingTable(table="billing_ledgerentry", at="at")


def around(start: datetime, end: datetime) -> tuple[int, int]:
    """An id below those of all entries of the span, and one above them; not far from it. Two statements."""
    return id_ranges.before(LEDGER, start), id_ranges.after(LEDGER, end)
