"""Checks whether the entries of a catalog file fit each other and what is stored: names, references, adapters."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from adapters.base import Target
from catalog import validation
from catalog.fields import Invalid, Problem, join
from catalog.file.specs import ChannelModelSpec, ChannelSpec, Document, ModelSpec, PlanSpec, RouteSpec
from catalog.models import Channel, ChannelModel, MediaModel, ModelName, Plan
from common import modalities

Key = tuple[str, str]  # modality, name


@dataclass(slots=True, kw_only=True)
class KnownNames:
    """What a reference may name: what the file defines and, unless it is pruned, what is stored."""

    plans: set[str] = field(default_factory=set)
    models: set[Key] = field(default_factory=set)
    channels: set[str] = field(default_factory=set)
    offers: set[tuple[str, Key]] = field(default_factory=set)
    names: dict[Key, Key] = field(default_factory=dict)  # stored name or alias: the model that has it

    def keys(self, entry: ChannelModelSpec | RouteSpec) -> list[Key]:
        """The models that an entry may mean; its modality may be left out where the name has only one."""
        meant = [entry.modality] if entry.modality else modalities.NAMES
        return sorted((modality, entry.model) for modality in meant if (modality, entry.model) in self.models)


def stored() -> KnownNames:
    """What the database holds."""
    return KnownNames(
        plans=set(Plan.objects.values_list("name", flat=True)),
        models=set(MediaModel.objects.values_list("modality", "name")),
        channels=set(Channel.objects.values_list("name", flat=True)),
        offers={
            (channel, (modality, name))
            for channel, modality, name in ChannelModel.objects.values_list(
                "channel__name", "model__modality", "model__name"
            )
        },
        names={
            (modality, name): (modality, primary)
            for modality, name, primary in ModelName.objects.values_list("modality", "name", "model__name")
        },
    )


def check(document: Document, known: KnownNames) -> list[Problem]:
    """All problems. `known` starts as what stays stored, and afterwards holds what the file defines too."""
    problems = _names(document.models, known)
    for entries in (document.channels, document.plans, document.groups):
        problems += _repeated((entry.path, entry.name) for entry in entries)
    known.plans |= {plan.name for plan in document.plans}
    known.channels |= {channel.name for channel in document.channels}
    known.models |= {(model.modality, model.name) for model in document.models if model.modality is not None}
    problems += [
        (f"{model.path}.default_plan", f"there is no plan {model.default_plan!r}")
        for model in document.models
        if model.default_plan is not None and model.default_plan not in known.plans
    ]
    for channel in document.channels:
        problems += _channel(channel, known)
    for plan in document.plans:
        problems += _plan(plan, known)
    return problems


def _names(models: list[ModelSpec], known: KnownNames) -> list[Problem]:
    """Each name and alias belongs to one model of its modality."""
    problems: list[Problem] = []
    owned = {(model.modality, model.name) for model in models}
    taken = {name for name, owner in known.names.items() if owner not in owned}
    for model in models:
        wheres = {f"{model.path}.name": model.name}
        wheres |= {f"{model.path}.aliases[{index}]": alias for index, alias in enumerate(model.aliases or ())}
        for path, name in wheres.items():
            if (model.modality, name) in taken:
                problems.append((path, f"{name!r} already names a {model.modality} model"))
            if name is not None and model.modality is not None:
                taken.add((model.modality, name))
    return problems


def _repeated(named: Iterable[tuple[str, str]]) -> list[Problem]:
    seen: set[str] = set()
    problems = []
    for path, name in named:
        if name in seen:
            problems.append((f"{path}.name", f"{name!r} is there twice"))
        if name is not None:
            seen.add(name)
    return problems


def _channel(channel: ChannelSpec, known: KnownNames) -> list[Problem]:
    settings = {"options": channel.options, "max_running": channel.max_running}
    unused = validation.unused_by(channel.adapter, settings)
    problems: list[Problem] = [(f"{channel.path}.{name}", validation.UNUSED) for name in unused]
    seen: set[Key] = set()
    for offer in channel.models:
        keys = known.keys(offer)
        problems += _reference(offer, keys)
        if len(keys) == 1 and keys[0] in seen:
            problems.append((offer.path, "this model is there twice"))
        if len(keys) == 1:
            seen.add(keys[0])
            known.offers.add((channel.name, keys[0]))
            problems += _adapter(channel, offer, keys[0][0])
    return problems


def _adapter(channel: ChannelSpec, offer: ChannelModelSpec, modality: str) -> list[Problem]:
    values = (channel.adapter, channel.base_url, channel.options, offer.upstream_model, offer.capabilities)
    if any(value is None for value in (*values, offer.extra_fields, offer.fixed)):
        return []
    target = Target(
        adapter=channel.adapter,
        base_url=channel.base_url,
        options=channel.options,
        upstream_model=offer.upstream_model,
        capabilities=offer.capabilities,
        extra_fields=offer.extra_fields,
        fixed=offer.fixed,
    )
    try:
        validation.target(target, modality=modality)
    except Invalid as error:
        return [
            (join(offer.path if path.startswith(validation.OFFERED) or not path else channel.path, path), reason)
            for path, reason in error.problems
        ]
    return []


def _plan(plan: PlanSpec, known: KnownNames) -> list[Problem]:
    problems: list[Problem] = []
    seen: set[tuple[str, Key]] = set()
    for route in plan.routes:
        keys = known.keys(route)
        problems += _reference(route, keys)
        if route.channel is not None and route.channel not in known.channels:
            problems.append((f"{route.path}.channel", f"there is no channel {route.channel!r}"))
        elif len(keys) == 1 and route.channel is not None:
            if (route.channel, keys[0]) not in known.offers:
                problems.append((route.path, f"channel {route.channel!r} does not offer {route.model!r}"))
            if (route.channel, keys[0]) in seen:
                problems.append((route.path, "this route is there twice"))
            seen.add((route.channel, keys[0]))
    return problems


def _reference(entry: ChannelModelSpec | RouteSpec, keys: list[Key]) -> list[Problem]:
    if entry.model is None or len(keys) == 1:
        return []
    if keys:
        return [(f"{entry.path}.modality", f"is required: {entry.model!r} exists in several modalities")]
    modality = f"{entry.modality} " if entry.modality else ""
    return [(f"{entry.path}.model", f"there is no {modality}model {entry.model!r}")]
