"""The end of holds alone, as the end of their tasks closes them."""

from collections.abc import Sequence

from billing import ledger
from billing.ledger import Closing
from common.database import writes


def close_holds(closings: Sequence[Closing]) -> None:
    """Within the caller's transaction. Raises UnbalancedHold unless every hold was open."""
    ledger.settle(closings, writes.run(ledger.closing_holds(closings)))
