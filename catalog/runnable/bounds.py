"""The bounds of a model's params under a plan: what the plan's routes can express of what the catalog lists.

In the shape of the catalog's `params` (`catalog/model_params.py`); `prompt`, `data_url`, `inputs` and optional fields
that no catalog lists may stand beside the fields that it has, the last with the {"values"} that run. A request that
keeps them, with one value that is no default, finds a route and a price.
"""

import logging
from collections.abc import Mapping
from typing import Any

from catalog import routing
from catalog.entries import ModelEntry, PlanEntry
from catalog.runnable import films, pictures
from catalog.runnable.trials import Trials
from catalog.snapshot import Catalog
from common import swallowed

Bounds = Mapping[str, Any]
logger = logging.getLogger(__name__)


def of(catalog: Catalog, model: ModelEntry, plan: PlanEntry) -> Bounds | None:
    """The very same object for one picture of the catalog; None where no request of the model would run."""
    key = (plan.id, model.id)
    if key not in catalog.bounds:
        catalog.bounds.setdefault(key, _found(catalog, model, plan))
    return catalog.bounds[key]


def of_submissions(catalog: Catalog, model: ModelEntry, plan: PlanEntry) -> Bounds:
    """What submissions are checked by: the catalog's own where nothing would run, so that the routes tell why."""
    found = of(catalog, model, plan)
    return model.params if found is None else found


def _found(catalog: Catalog, model: ModelEntry, plan: PlanEntry) -> Bounds | None:
    routes = tuple(route for route in catalog.routes(plan.id, model.id) if routing.is_served(route, model))
    trials = Trials(model=model, plan=plan, routes=routes)
    try:
        if model.modality == "image":
            return pictures.of(trials)
        return films.of(trials) if model.modality == "video" else {}
    except Exception:  # an installed adapter may raise anything, and the other models are none of its business
        swallowed.note("catalog.runnable.bounds")
        logger.error("%s model %s is not offered under plan %s: a route failed", model.modality, model.name, plan.name)
        return None
