"""Tries requests on routes of a plan, as a submission of them would be judged and priced. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from adapters.base import Billed, TaskRequest
from catalog import model_params, prices, routing
from catalog.entries import ModelEntry, PlanEntry, RouteEntry

PROMPT = "x"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Whether a route can express a request, and what it would buy has a price; and the fields that rule routes out."""

    runs: bool
    complaints: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """A model under a plan, and those of the plan's routes that are tried together."""

    model: ModelEntry
    plan: PlanEntry
    routes: tuple[RouteEntry, ...]

    def tried(self, request: TaskRequest) -> Trial:
        judgements = routing.judge(self.routes, self.model, request)
        bought = next((judgement.billed for judgement in judgements if judgement.billed), None)
        return Trial(
            runs=bought is not None and self._is_sold(bought),
            complaints=frozenset(reason.field for judgement in judgements for reason in judgement.reasons),
        )

    def runs(self, request: TaskRequest) -> bool:
        return self.tried(request).runs

    def leading(self, requests: Iterable[TaskRequest]) -> int:
        """How many of the requests run, up to the first that does not."""
        count = 0
        for request in requests:
            if not self.runs(request):
                break
            count += 1
        return count

    def longest_prompt(self, request: TaskRequest, limit: int) -> int:
        """The most characters of a prompt with which a request that runs still does, `limit` at most."""
        fits, beyond = len(PROMPT), limit + 1
        if self.runs(replace(request, prompt=PROMPT * limit)):
            return limit
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            if self.runs(replace(request, prompt=PROMPT * middle)):
                fits = middle
            else:
                beyond = middle
        return fits

    def _is_sold(self, bought: Billed) -> bool:
        is_picture = self.model.modality == "image"
        if is_picture and bought.count > model_params.most_images_made(self.model.params):
            return False
        return prices.unit_micros(self.model, self.plan, bought.tier) is not None
