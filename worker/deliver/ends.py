"""Tasks that end well, together: one transaction for all that come while another is at work."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from catalog.health import outcomes
from catalog.health.calls import ChannelCall
from common.database.database_retry import insist
from tasks import lifecycle
from tasks.lifecycle import Ending
from worker.groups import Together
from worker.seats import Seats

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodEnd:
    """An end, and the call that the result came by, where the channel's health has not heard of that before."""

    ending: Ending
    through: ChannelCall | None = None


def end_together(group: Sequence[GoodEnd]) -> list[bool]:
    """Whether each of these tasks did end so. Each channel's health hears of it once."""
    ended = lifecycle.end([good.ending for good in group])
    if calls := {good.through for good in group if good.through}:
        tell(outcomes.succeeded, calls)
    return [good.ending.task_id in ended for good in group]


def tell(step: Callable[..., None], *arguments: Any) -> None:
    """Note what an answer means for the channel's health. The answer is recorded even where that cannot be noted."""
    try:
        insist(step, *arguments)
    except Exception:
        logger.exception("the channel's health could not be noted")


endings = Together(end_together, start=Seats("endings", 1).start_anyhow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway:
    """The end of a task, which goes into a group: `promise` tells whether it did end so. Where it did not, `anew` tries
    once more, and does what is to be done then. Where it takes its time, `note` records that the provider has finished,
    and waits for nobody."""

    promise: "Future[bool]"
    anew: Callable[[], None]
    note: Callable[[], object]
