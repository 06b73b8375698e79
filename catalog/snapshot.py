"""An immutable picture of the catalog in memory, valid for one catalog version; credentials are never in it.

Every process keeps one picture. Whoever knows the current version asks for it; the picture is loaded anew only when
the version has moved.
"""

import copy
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from catalog import group_rows, prices
from catalog.entries import ChannelEntry, ModelEntry, PlanEntry, Resolved, RouteEntry
from catalog.groups import GroupEntry
from catalog.models import (
    CatalogVersion,
    Channel,
    ChannelModel,
    MediaModel,
    ModelName,
    OperatorStanding,
    Plan,
    PlanChoice,
    Route,
)


class ChoiceOfAll(dict[tuple[int, int], int]):
    """Choices of plans, where every key has chosen the same one for every model."""

    def __init__(self, plan_id: int) -> None:
        super().__init__()
        self.plan_id = plan_id

    def get(self, key: tuple[int, int], default: Any = None) -> Any:
        return self.plan_id


class Catalog:
    """What is on offer at one version. Routes in it are enabled throughout: route, channel and channel model.

    By plan and model, `bounds` keeps what `catalog.runnable` has found, and `terms` what `tasks.intake` checks by.
    """

    def __init__(
        self,
        version: int,
        *,
        models: Iterable[ModelEntry],
        plans: Iterable[PlanEntry],
        channels: Iterable[ChannelEntry],
        routes: Iterable[RouteEntry],
        choices: Mapping[tuple[int, int], int],
        groups: Iterable[GroupEntry] = (),
    ) -> None:
        self.version = version
        self._groups = {group.id: group for group in groups}
        self._models = {model.id: model for model in models}
        self._plans = {plan.id: plan for plan in plans}
        self._channels = tuple(channels)
        self._routes = {route.id: route for route in routes}
        self._choices = choices
        self._named: dict[str, dict[str, ModelEntry]] = defaultdict(dict)
        for model in self._models.values():
            for name in (model.name, *model.aliases) if model.enabled else ():
                self._named[name][model.modality] = model
        self.bounds: dict[tuple[int, int], Mapping[str, Any] | None] = {}
        self.terms: dict[tuple[int, int], Any] = {}
        self._served: dict[tuple[int, int], tuple[RouteEntry, ...]] = {}
        taking = [route for route in self._routes.values() if route.channel.standing != OperatorStanding.DRAINED]
        for route in sorted(taking, key=lambda route: (route.priority, route.id)):
            key = (route.plan_id, route.model_id)
            self._served[key] = (*self._served.get(key, ()), route)

    def models(self) -> tuple[ModelEntry, ...]:
        """All models, disabled ones too."""
        return tuple(self._models.values())

    def channels(self) -> tuple[ChannelEntry, ...]:
        """All channels, disabled ones too."""
        return self._channels

    def groups(self) -> tuple[GroupEntry, ...]:
        """All groups of general keys, by name."""
        return tuple(self._groups.values())

    def group(self, group_id: int) -> GroupEntry | None:
        """The group, or None when it is gone."""
        return self._groups.get(group_id)

    def models_named(self, name: str) -> tuple[ModelEntry, ...]:
        """The enabled models of this name or alias: one per modality at most."""
        return tuple(self._named[name].values()) if name in self._named else ()

    def model(self, name: str, modality: str) -> ModelEntry | None:
        """The enabled model of this name or alias and modality."""
        return self._named[name].get(modality) if name in self._named else None

    def plans(self) -> tuple[PlanEntry, ...]:
        return tuple(self._plans.values())

    def plan(self, plan_id: int) -> PlanEntry:
        return self._plans[plan_id]

    def route(self, route_id: int) -> RouteEntry | None:
        """The route, or None when it is gone or disabled. One of a drained channel is there for those that have it."""
        return self._routes.get(route_id)

    def routes(self, plan_id: int, model_id: int) -> tuple[RouteEntry, ...]:
        """The enabled routes of a plan for a model that take new tasks, by priority, then id."""
        return self._served.get((plan_id, model_id), ())

    def plan_for(self, key_id: int, model: ModelEntry) -> tuple[PlanEntry, bool]:
        """The effective plan of a key for a model, and whether the key selected it."""
        found = self.resolved(key_id, model)
        return found.plan, found.is_selected

    def resolved(self, key_id: int, model: ModelEntry) -> Resolved:
        """The model as the key gets it. A selection that has no enabled route for this model any more counts for
        nothing: this model alone returns to its default plan."""
        chosen = self._choices.get((key_id, model.id))
        is_selected = chosen is not None and (chosen, model.id) in self._served
        plan_id = chosen if chosen is not None and is_selected else model.default_plan_id
        routes = self._served.get((plan_id, model.id), ())
        return Resolved(model=model, plan=self._plans[plan_id], is_selected=is_selected, routes=routes)

    def plans_serving(self, model_id: int) -> int:
        """How many plans have an enabled route for a model."""
        return sum((plan_id, model_id) in self._served for plan_id in self._plans)

    def under(self, plan_id: int) -> "Catalog":
        """The same catalog as it is for keys that have chosen this plan for every model, whatever key asks."""
        supposed = copy.copy(self)
        supposed._choices = ChoiceOfAll(plan_id)
        return supposed


_lock = threading.Lock()
_kept: Catalog | None = None


def current(version: int) -> Catalog:
    """The picture of this version; one that is newer still when the catalog moves meanwhile."""
    global _kept
    catalog = _kept
    if catalog is not None and catalog.version == version:
        return catalog
    with _lock:
        if _kept is None or _kept.version != version:
            _kept = load()
        return _kept


def latest() -> Catalog:
    """The picture of the version that the database has now: one statement when nothing has changed."""
    return current(stored_version())


def forget() -> None:
    """Drop the picture. Only for tests: where transactions are rolled back, version numbers repeat."""
    global _kept
    _kept = None


def stored_version() -> int:
    return CatalogVersion.objects.values_list("version", flat=True).get()


def load() -> Catalog:
    """Read the tables, again until no write came in between; every write raises the version with its commit."""
    version = stored_version()
    while True:
        catalog = _read(version)
        version = stored_version()
        if catalog.version == version:
            return catalog


def _read(version: int) -> Catalog:
    channels = {channel.id: _channel(channel) for channel in Channel.objects.order_by("name")}
    offered = {(row.channel_id, row.model_id): row for row in ChannelModel.objects.filter(enabled=True)}
    aliases: dict[int, list[str]] = defaultdict(list)
    for model_id, alias in ModelName.objects.filter(is_primary=False).order_by("id").values_list("model_id", "name"):
        aliases[model_id].append(alias)
    return Catalog(
        version,
        models=[_model(model, aliases[model.id]) for model in MediaModel.objects.order_by("modality", "name")],
        plans=[
            PlanEntry(id=plan.id, name=plan.name, price_multiplier=plan.price_multiplier) for plan in Plan.objects.all()
        ],
        channels=channels.values(),
        routes=[
            _route(route, channels[route.channel_id], offered[route.channel_id, route.model_id])
            for route in Route.objects.filter(enabled=True)
            if (route.channel_id, route.model_id) in offered and channels[route.channel_id].enabled
        ],
        choices={
            (key_id, model_id): plan_id
            for key_id, model_id, plan_id in PlanChoice.objects.values_list("key_id", "model_id", "plan_id")
        },
        groups=group_rows.read(channels),
    )


def _channel(channel: Channel) -> ChannelEntry:
    return ChannelEntry(
        id=channel.id,
        name=channel.name,
        adapter=channel.adapter,
        base_url=channel.base_url,
        options=channel.options,
        max_running=channel.max_running,
        enabled=channel.enabled,
        standing=channel.standing,
    )


def _model(model: MediaModel, aliases: Iterable[str]) -> ModelEntry:
    return ModelEntry(
        id=model.id,
        name=model.name,
        aliases=tuple(aliases),
        modality=model.modality,
        default_plan_id=model.default_plan_id,
        pricing_mode=model.pricing_mode,
        prices=prices.exact(model.prices),
        params=model.params,
        enabled=model.enabled and model.standing != OperatorStanding.DRAINED,
    )


def _route(route: Route, channel: ChannelEntry, offer: ChannelModel) -> RouteEntry:
    return RouteEntry(
        id=route.id,
        plan_id=route.plan_id,
        model_id=route.model_id,
        channel=channel,
        priority=route.priority,
        weight=route.weight,
        resubmit_ambiguous=route.resubmit_ambiguous,
        upstream_model=offer.upstream_model,
        capabilities=offer.capabilities,
        extra_fields=offer.extra_fields,
        fixed=offer.fixed,
        cost=prices.exact(offer.cost),
    )
