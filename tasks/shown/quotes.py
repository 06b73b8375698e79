"""What a submission would cost its caller, before it is one; the same for the API and for pages."""

from dataclasses import dataclass
from typing import Any

from accounts.authentication import Caller
from billing import budgets
from common.money import usd
from tasks.intake.drafts import PreparedSubmission


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Money in micro-USD. `left_micros` is what would be left of the balance and not be held; it may be negative."""

    model: str
    modality: str
    plan: str
    estimate_micros: int
    left_micros: int
    is_affordable: bool
    eligible_routes: int


def of(caller: Caller, prepared: PreparedSubmission) -> Quote:
    """Asks the database where budgets bind the caller."""
    estimate = prepared.price.estimate_micros
    left = caller.balance_micros - caller.held_micros - estimate
    return Quote(
        model=prepared.body.model,
        modality=prepared.model.modality,
        plan=prepared.decision.plan.name,
        estimate_micros=estimate,
        left_micros=left,
        is_affordable=left >= 0 and budgets.allow(caller.account_id, caller.key_id, estimate),
        eligible_routes=len(prepared.decision.kept),
    )


def shown(quote: Quote) -> dict[str, Any]:
    """The answer of `POST /v1/tasks/quote`."""
    return {
        "model": quote.model,
        "modality": quote.modality,
        "plan": quote.plan,
        "estimated_cost": usd(quote.estimate_micros),
        "currency": "USD",
        "balance_after": usd(quote.left_micros),
        "affordable": quote.is_affordable,
        "eligible_routes": quote.eligible_routes,
    }
