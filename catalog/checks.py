"""Says what is wrong with the stored catalog, for `doctor` and for the warnings of a loaded catalog file."""

from collections.abc import Mapping

from adapters import registry
from billing import modes
from catalog import credentials, group_checks, model_params, snapshot, standing
from catalog.entries import ChannelEntry
from catalog.runnable import unexpressed
from catalog.snapshot import Catalog
from common import urls


def problems() -> list[str]:
    """One sentence per problem; empty when all that is enabled can serve."""
    catalog = snapshot.load()
    channels = (found for channel in catalog.channels() for found in _channel(channel))
    return [*_models(catalog), *group_checks.problems(catalog), *channels]


def _models(catalog: Catalog) -> list[str]:
    found = []
    for model in filter(lambda model: model.enabled, catalog.models()):
        plan = catalog.plan(model.default_plan_id)
        if not catalog.routes(plan.id, model.id):
            found.append(f"{model.modality} model {model.name} has no enabled route in its default plan {plan.name}")
        if modes.find(model.pricing_mode) is None:
            why = f"as no pricing mode is named {model.pricing_mode}: choose {' or '.join(modes.BY_NAME)}"
            found.append(f"{model.modality} model {model.name} is not offered, {why}")
        tiers = model_params.listed_tiers(model.pricing_mode, model.params)
        if missing := [tier for tier in tiers if tier not in model.prices]:
            found.append(f"{model.modality} model {model.name} has no price for {', '.join(missing)}")
        if not model.prices:
            found.append(f"{model.modality} model {model.name} has no price")
        if model_params.lacks_tiers(model.pricing_mode, model.params):
            advice = model_params.what_offers(model.prices)
            found.append(f"{model.modality} model {model.name} is not offered, as it offers no image_size: {advice}")
        found += unexpressed.problems(catalog, model)
    return found


def _channel(channel: ChannelEntry) -> list[str]:
    if not channel.enabled:
        return []
    found = []
    if registry.get(channel.adapter) is None:
        found.append(f"channel {channel.name}: adapter {channel.adapter} is not registered")
    rows = credentials.current(channel.id)
    if not rows:
        found.append(f"channel {channel.name} has no credential")
    for row in rows:
        if row.origin != urls.origin(channel.base_url):
            found.append(f"channel {channel.name}: {standing.elsewhere(row)}")
            continue
        if row.disabled_at is not None:
            found.append(f"channel {channel.name}: {standing.disabled(row)}; {standing.advice(row)}")
            continue
        values = credentials.readable(row.ciphertext)
        if values is None:
            found.append(f"channel {channel.name}: no key of ENCRYPTION_KEYS opens its credential {row}")
        elif wanted := _missing(channel, values):
            has = ", ".join(values) or "nothing"
            found.append(f"channel {channel.name}: its credential needs {wanted}; it has {has}")
    return found


def _missing(channel: ChannelEntry, values: Mapping[str, str]) -> str:
    """The names that a credential needs, where it has none of the sets; adapters of other packages need not tell."""
    sets = getattr(registry.get(channel.adapter), "credential_sets", ())
    if not sets or any(set(names) <= values.keys() for names in sets):
        return ""
    return " or ".join(" and ".join(names) for names in sets)
