"""Tries requests on routes of a plan, as a submission of them would be judged and priced. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.base import Billed, TaskRequest
from catalog import model_params, prices, routing
from catalog.entries import ModelEntry, PlanEntry, RouteEntry
from common.params import tables

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

    def taken(self, request: TaskRequest) -> dict[str, list[Any]]:
        """The optional fields that no catalog lists, with those of their trial values that run beside this request."""
        return {
            row.name: [value for value in row.trial_values if self.runs(with_value(request, row.name, value))]
            for row in tables.TABLES[self.model.modality].rows
            if row.trial_values
        }

    def narrowed(self, request: TaskRequest) -> dict[str, dict[str, Any]]:
        """The bounds of those of which not every value runs."""
        return narrower(self.model.modality, self.taken(request))

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


def with_value(request: TaskRequest, name: str, value: Any) -> TaskRequest:
    """The same request with another value in one field."""
    changes: dict[str, Any] = {name: value}
    return replace(request, **changes)


def narrower(modality: str, taken: Mapping[str, list[Any]]) -> dict[str, dict[str, Any]]:
    """{"values"} of the fields of which fewer values are taken than were tried."""
    table = tables.TABLES[modality]
    return {name: {"values": values} for name, values in taken.items() if len(values) < len(table[name].trial_values)}
