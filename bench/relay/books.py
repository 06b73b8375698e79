"""Checks every run of relayed calls: none is open, every answer has one charge, and the books are right."""

from dataclasses import asdict, dataclass

from bench import correctness, crew
from bench.model import Incorrect
from bench.service import BenchService

LONGEST_END = 20.0
COUNTS = """
SELECT count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE state = 'settled'),
    count(*) FILTER (WHERE is_estimated OR is_loss),
    (SELECT count(*) FROM billing_hold WHERE state = 'open'),
    (SELECT count(*) FROM billing_hold WHERE state = 'settled' AND reference LIKE 'call\\_%'),
    (SELECT count(*) FROM billing_ledgerentry
        WHERE kind = 'charge' AND book = 'customer' AND reference LIKE 'call\\_%'),
    (SELECT sum(held_micros)::bigint FROM accounts_account),
    (SELECT sum(balance_micros)::bigint FROM accounts_account)
        - (SELECT sum(amount_micros)::bigint FROM billing_ledgerentry WHERE book = 'customer')
FROM billing_relayedcall
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """Counts of calls that are open, settled, flagged; open holds; settled holds and charges of calls. In micro-USD:
    `held` by all accounts, and `astray`, the difference between balances and ledger."""

    open: int
    settled: int
    flagged: int
    holds: int
    settled_holds: int
    charges: int
    held: int
    astray: int


def counts(service: BenchService) -> CallCounts:
    (found,) = correctness.fetch(service.database_url, COUNTS)
    return CallCounts(**dict(zip(CallCounts.__slots__, found, strict=True)))


def settle(service: BenchService) -> None:
    """Waits until no call is open: after the load generator has stopped, the last calls may still run. Raises
    Incorrect."""
    if not crew.until(lambda: not counts(service).open, seconds=LONGEST_END):
        raise Incorrect(f"{counts(service).open} calls are still open")


def check(service: BenchService, *, before: CallCounts, answered: int, in_flight: int) -> None:
    """Raises Incorrect on any difference. A load generator that stops leaves at most `in_flight` calls that may be
    charged or not: an undelivered picture costs nothing."""
    compare(before, counts(service), answered=answered, in_flight=in_flight)
    correctness.check_ledger(service)


def compare(before: CallCounts, after: CallCounts, *, answered: int, in_flight: int) -> None:
    """Raises Incorrect if the counts differ."""
    if after.open or after.holds or after.held or after.astray:
        raise Incorrect(f"calls are open, money is held, or balances differ from the ledger: {asdict(after)}")
    if after.settled != after.settled_holds or after.charges > after.settled:
        raise Incorrect(f"settled calls, settled holds and charges differ: {asdict(after)}")
    charged, settled = after.charges - before.charges, after.settled - before.settled
    flagged = after.flagged - before.flagged
    if not answered <= charged <= settled <= answered + in_flight or flagged > in_flight:
        raise Incorrect(f"{answered} answers, {charged} charges, {settled} settled, {flagged} without usage")
