"""Relayed calls that nobody will end: those of web processes that stopped or fell silent."""

import logging
from collections.abc import Sequence

from billing import lost_calls, relayed_calls, web_processes
from billing.relayed_calls import CallEnding
from common.database.database_retry import AWAY, apart

logger = logging.getLogger(__name__)


def end_lost() -> int:
    """End a batch of them; returns how many that were. Each ends once, over any number of workers, and nobody is waited
    for: what somebody else holds is looked at again."""
    web_processes.declare_dead()
    endings = lost_calls.endings()
    if not endings:
        return 0
    outcomes = apart(_ended, endings, of_all=AWAY)
    for ending, outcome in zip(endings, outcomes, strict=True):
        if isinstance(outcome, Exception):
            logger.error("the end of relayed call %s cannot be written", ending.call_id, exc_info=outcome)
    done = [ending for ending, outcome in zip(endings, outcomes, strict=True) if outcome is True]
    lost = sum(ending.is_loss for ending in done)
    logger.warning("ended %d relayed calls of dead web processes; of %d no usage was seen", len(done), lost)
    return len(done)


def _ended(endings: Sequence[CallEnding]) -> list[bool]:
    done = relayed_calls.end_free(endings)
    return [ending.call_id in done for ending in endings]
