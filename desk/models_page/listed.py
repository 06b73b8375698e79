"""The list of models: what each is sold for, and whether it is on offer now."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from billing import modes
from catalog import naming, pausing, snapshot
from catalog.models import MediaModel
from desk.models_page import facts
from tasks.shown import eta


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A row. `state` is a word of pages: on, paused, drained or disabled; `why_not` says why it is not on offer."""

    model: Any
    aliases: tuple[str, ...]
    state: str
    why_not: str
    prices: tuple[tuple[str, int], ...]
    unit: str
    usual_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    rows: tuple[ListedModel, ...]

    @property
    def missing(self) -> list[ListedModel]:
        """Those that are not on offer."""
        return [row for row in self.rows if row.why_not]

    @property
    def on_offer(self) -> int:
        return len(self.rows) - len(self.missing)


def of(models: Iterable[MediaModel]) -> ModelList:
    """Prices are those of the default plan."""
    catalog = snapshot.latest()
    rows = []
    for model in models:
        usual = eta.usual(model.pk)
        rows.append(
            ListedModel(
                model=model,
                aliases=tuple(naming.aliases(model)),
                state=pausing.standing(model) if model.enabled else "disabled",
                why_not="" if facts.offer_of(model, catalog) else facts.missing(model),
                prices=facts.effective(model),
                unit=modes.noun(model.pricing_mode),
                usual_seconds=usual["p50"] if usual else None,
            )
        )
    return ModelList(rows=tuple(rows))
