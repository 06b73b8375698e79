"""List of models: prices, and whether each is on offer."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from billing import modes
from catalog import naming, pausing, snapshot
from catalog.models import MediaModel
from desk.models_page import model_facts
from tasks.shown import eta


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """Row of the list. `state` is on, paused, drained or disabled; `why_not` says why it is not on offer."""

    model: Any
    aliases: tuple[str, ...]
    state: str
    why_not: str
    prices: tuple[tuple[str, int], ...]
    unit: str
    usual_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """Rows of the list, and counts of models on offer."""

    rows: tuple[ListedModel, ...]

    @property
    def missing(self) -> list[ListedModel]:
        """List the models that are not on offer."""
        return [row for row in self.rows if row.why_not]

    @property
    def on_offer(self) -> int:
        return len(self.rows) - len(self.missing)


def read(models: Iterable[MediaModel]) -> ModelList:
    """Build the rows, with prices under the default plan."""
    catalog = snapshot.latest()
    rows = []
    for model in models:
        usual = eta.usual(model.pk)
        rows.append(
            ListedModel(
                model=model,
                aliases=tuple(naming.aliases(model)),
                state=pausing.standing(model) if model.enabled else "disabled",
                why_not="" if model_facts.offer_of(model, catalog) else model_facts.missing(model),
                prices=model_facts.effective(model),
                unit=modes.noun(model.pricing_mode),
                usual_seconds=usual["p50"] if usual else None,
            )
        )
    return ModelList(rows=tuple(rows))
