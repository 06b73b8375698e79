"""Import of a provider's bill: its file is stored once and can be compared with our calls repeatedly.

The ledger is not changed: a line holds the billed amount beside the expected cost. Everything is computed first and
written in short transactions; the run that began last wins.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from catalog.models import Channel
from common import sql
from common.documents import Unreadable
from desk.bills import columns as bill_columns
from desk.bills import matching, our_calls, tables
from desk.bills.columns import BadRow, BillColumns, ProviderLine
from desk.bills.matching import Comparison, JudgedLine
from desk.bills.our_calls import TooManyCalls
from desk.bills.tables import Table
from desk.models import BillLine, ProviderBill, RememberedColumns

BATCH = 1_000
MOST_BAD_ROWS = 200
LONGEST_PERIOD = timedelta(days=100)
REMOVED = "This bill has been removed."
EARLIEST, LATEST = date(2000, 1, 1), date(2999, 12, 31)


class BillRefused(Exception):
    """Raised when a bill was not compared, with a message for the operator. The previous comparison stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Span of UTC days, both ends included."""

    first: date
    last: date

    @property
    def since(self) -> datetime:
        return datetime.combine(self.first, time(), UTC)

    @property
    def until(self) -> datetime:
        return datetime.combine(self.last, time(), UTC) + timedelta(days=1)


def receive(channel: Channel, file_name: str, content: bytes, *, by: str) -> tuple[ProviderBill, bool]:
    """Store a file and return its bill and whether it is new; a file is stored once per channel. Raises
    UnreadableTable."""
    tables.read(content)
    digest = hashlib.sha256(content).hexdigest()
    bill = ProviderBill(
        channel=channel,
        channel_name=channel.name,
        file_name=file_name[:200],
        sha256=digest,
        source=zlib.compress(content),
        imported_by=by,
    )
    try:
        with transaction.atomic():
            bill.save()
    except IntegrityError:
        return ProviderBill.objects.get(channel=channel, sha256=digest), False
    return bill, True


def table_of(bill: ProviderBill) -> Table:
    """Parse the stored file. Raises UnreadableTable."""
    return tables.read(zlib.decompress(bytes(bill.source)))


def remembered(channel_id: int | None) -> BillColumns | None:
    row = RememberedColumns.objects.filter(channel=channel_id).first() if channel_id else None
    try:
        return bill_columns.stored(row.columns) if row else None
    except Unreadable:
        return None


def compare(bill: ProviderBill, chosen: BillColumns, period: Period | None) -> None:
    """Read the file by these columns, compare it with our calls and store both. Without a period, the lines' times set
    it. Raises UnreadableTable and BillRefused."""
    if bill.channel_id is None:
        raise BillRefused("The channel of this bill was deleted, so there is nothing to compare it with.")
    good, bad = bill_columns.lines(table_of(bill), chosen)
    if not good:
        raise BillRefused(f"No row can be read as a line of a bill. Line {bad[0].line}: {bad[0].why}.")
    period = period or _period_of(good)
    run = _begun(bill)
    comparison = _compared(bill.channel_id, good, period)
    try:
        _write(bill, run, comparison.verdicts())
    except IntegrityError as error:
        raise BillRefused(REMOVED) from error
    _finish(bill, run, chosen, period, comparison, bad)


BEGIN = "UPDATE desk_providerbill SET begun = begun + 1 WHERE id = %s RETURNING begun"


def _begun(bill: ProviderBill) -> int:
    """Begin a run and return its unique number."""
    for number in sql.column(BEGIN, [bill.pk]):
        return int(number)
    raise BillRefused(REMOVED)


def _period_of(lines: Sequence[ProviderLine]) -> Period:
    moments = [line.at for line in lines if line.at]
    if not moments:
        raise BillRefused("The bill has no column of times: enter its first and last day.")
    return Period(first=min(moments).date(), last=max(moments).date())


def _compared(channel_id: int, lines: Sequence[ProviderLine], period: Period) -> Comparison:
    if not EARLIEST <= period.first <= period.last <= LATEST:
        raise BillRefused(f"The bill runs from {period.first} to {period.last}: that is out of range.")
    if period.until - period.since > LONGEST_PERIOD:
        raise BillRefused(
            f"The bill runs from {period.first} to {period.last}: the limit is {LONGEST_PERIOD.days} days."
        )
    comparison = Comparison(lines=lines, since=period.since, until=period.until)
    try:
        for page in our_calls.around(channel_id, period.since, period.until):
            comparison.add_calls(page)
    except TooManyCalls:
        most = f"{our_calls.MOST_CALLS:,}"
        raise BillRefused(f"More than {most} calls lie around this period: split the bill by weeks.") from None
    return comparison


LINE_COLUMNS = (
    "number bigint, verdict text, upstream_id text, amount_micros bigint, billed_at time, model text, call_id bigint, "
    "own_micros bigint, settled text, settled_by text"
)
NAMES = ", ".join(pair.split()[0] for pair in LINE_COLUMNS.split(","))
INSERT = f"INSERT INTO desk_billline (bill_id, run, {NAMES}) SELECT %s, %s, {NAMES} FROM {{rows}}"


def _write(bill: ProviderBill, run: int, verdicts: Iterable[JudgedLine]) -> None:
    """Write the lines in batches of a thousand, one statement and transaction each."""
    before = bill.lines.filter(run=bill.run, number__isnull=False).exclude(settled="")
    settled = {line.upstream_id: line for line in before}
    remaining = iter(verdicts)
    while batch := list(islice(remaining, BATCH)):
        rows = sql.pack(_row(each, settled) for each in batch)
        with transaction.atomic():
            sql.run(INSERT.format(rows=sql.rows(LINE_COLUMNS)), [bill.pk, run, rows])


def _row(judged: JudgedLine, settled: Mapping[str, BillLine]) -> dict[str, Any]:
    line, call = judged.line, judged.call
    before = settled.get(line.upstream_id) if line else None
    return {
        "number": line.line if line else None,
        "verdict": judged.verdict,
        "upstream_id": line.upstream_id if line else call.upstream_id if call else "",
        "amount_micros": line.amount_micros if line else None,
        "billed_at": line.at if line else None,
        "model": line.model if line else "",
        "call_id": call.id if call else before.call_id if before else None,
        "own_micros": call.own_micros if call else None,
        "settled": before.settled if before else "",
        "settled_by": before.settled_by if before else "",
    }


def _finish(
    bill: ProviderBill, run: int, chosen: BillColumns, period: Period, comparison: Comparison, bad: Sequence[BadRow]
) -> None:
    """Publish this run; delete it instead if a later one has begun."""
    sums = matching.sums(comparison.verdicts(), comparison.ours_unlisted) | {"nameless": comparison.nameless}
    with transaction.atomic():
        shown = ProviderBill.objects.filter(pk=bill.pk, begun=run).update(
            run=run,
            columns=asdict(chosen),
            since=period.first,
            until=period.last,
            bad_rows=[[row.line, row.why] for row in bad[:MOST_BAD_ROWS]],
            bad_count=len(bad),
            sums={name: asdict(each) for name, each in sums.items()},
            compared_at=Now(),
        )
        if shown:
            columns = {"columns": asdict(chosen)}
            RememberedColumns.objects.update_or_create(channel=bill.channel, defaults=columns)
    left_over: Any = bill.lines.filter(run__lt=run) if shown else bill.lines.filter(run=run)
    left_over.delete()
    try:
        bill.refresh_from_db()
    except ProviderBill.DoesNotExist as error:
        raise BillRefused(REMOVED) from error
