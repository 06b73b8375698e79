"""Settlement of holds alone, without what ends with them."""

from collections.abc import Sequence
from dataclasses import dataclass

from billing import ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A hold to close; `actual_micros` is charged, and None releases it."""

    reference: str
    account_id: int
    actual_micros: int | None


def close_holds(closings: Sequence[Closing]) -> None:
    """Settle them in the caller's transaction. Raises UnbalancedHold unless every hold was open."""
    accounts = ledger.lock_accounts(closing.account_id for closing in closings)
    ledger.settle([{"id": c.reference, "account": c.account_id, "charge": c.actual_micros} for c in closings], accounts)
