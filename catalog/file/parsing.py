"""Reads the tree of a catalog file into specs, field by field; `references` asks whether they fit each other."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from catalog import model_params, offer_rules, sealing, validation
from catalog.fields import FieldReader, Invalid, Problem, boolean, each, integer, one_of
from catalog.file.specs import (
    ChannelModelSpec,
    ChannelSpec,
    Document,
    GroupChannelSpec,
    GroupSpec,
    ModelSpec,
    PlanSpec,
    RouteSpec,
)
from common import modalities, urls


def parse(tree: object, problems: list[Problem]) -> Document:
    """All entries; where `problems` grew, the fields they name are None."""
    fields = FieldReader({} if tree is None else tree, "", problems)
    fields.need("version", integer(1, 1))
    document = Document(
        models=fields.items("models", _model),
        channels=fields.items("channels", _channel),
        plans=fields.items("plans", _plan),
        groups=fields.items("groups", _group),
    )
    fields.close()
    return document


def _model(fields: FieldReader) -> ModelSpec:
    modality = fields.need("modality", one_of(*modalities.NAMES))
    pricing = FieldReader(fields.left.pop("pricing", None) or {}, f"{fields.path}.pricing", fields.problems)
    mode = pricing.need("mode", partial(validation.pricing_mode, modality=modality))
    prices = pricing.need("prices", partial(validation.prices, mode=mode))
    model = ModelSpec(
        path=fields.path,
        name=fields.need("name", validation.name),
        modality=modality,
        aliases=fields.take("aliases", each(validation.name), []),
        default_plan=fields.need("default_plan", validation.name),
        pricing_mode=mode,
        prices=prices,
        params=_params(fields, modality, mode, prices),
        enabled=fields.take("enabled", boolean, True),
    )
    pricing.close()
    return model


def _params(
    fields: FieldReader, modality: str | None, mode: str | None, prices: Mapping[str, str] | None
) -> Mapping[str, Any]:
    if modality is None:
        return fields.take("params", validation.json_object, {})
    if fields.left.get("params") is None:
        fields.left["params"] = {}  # the rule says whether none are enough
    rule = partial(model_params.read, modality=modality, pricing_mode=mode, tiers=prices or ())
    return fields.need("params", rule)


def _channel(fields: FieldReader) -> ChannelSpec:
    base_url = fields.need("base_url", validation.base_url)
    return ChannelSpec(
        path=fields.path,
        name=fields.need("name", validation.name),
        adapter=fields.need("adapter", validation.adapter),
        base_url=base_url,
        credentials=_credentials(fields, base_url),
        max_running=fields.take("max_running", integer(1), None),
        options=fields.take("options", validation.json_object, {}),
        enabled=fields.take("enabled", boolean, True),
        models=fields.items("models", _channel_model),
    )


def _credentials(fields: FieldReader, base_url: str | None) -> dict[str, str] | list[dict[str, str]] | None:
    plain = fields.take("credentials", one_or_all(validation.credentials), None)
    sealed = fields.take("sealed_credentials", one_or_all(partial(unsealed, base_url=base_url)), None)
    if plain is not None and sealed is not None:
        fields.problems.append((f"{fields.path}.sealed_credentials", "cannot stand beside credentials"))
    return plain if sealed is None else sealed


def one_or_all(rule: Callable[[Any], dict[str, str]]) -> Callable[[Any], dict[str, str] | list[dict[str, str]]]:
    """The rule for one credential, or for a list of different ones."""

    def read(value: object) -> dict[str, str] | list[dict[str, str]]:
        if not isinstance(value, list):
            return rule(value)
        found = each(rule)(value)
        if not found:
            raise Invalid("must not be empty: leave it out to keep what is stored")
        if any(credential in found[:index] for index, credential in enumerate(found)):
            raise Invalid("must be different credentials")
        return found

    return read


def unsealed(value: object, *, base_url: str | None) -> dict[str, str]:
    """Credentials as they are stored: encrypted with this installation's ENCRYPTION_KEYS, for the origin of this
    address."""
    found = sealing.unseal(validation.text(100_000)(value))
    if found is None:
        raise Invalid("none of ENCRYPTION_KEYS opens it")
    origin = urls.origin(base_url or "")
    if base_url is not None and found.origin != origin:
        raise Invalid(f"was sealed for {found.origin} and not for {origin}: give `credentials` instead")
    return dict(found.values)


def _channel_model(fields: FieldReader) -> ChannelModelSpec:
    return ChannelModelSpec(
        path=fields.path,
        model=fields.need("model", validation.name),
        modality=fields.take("modality", one_of(*modalities.NAMES), None),
        upstream_model=fields.need("upstream_model", validation.name),
        capabilities=fields.take("capabilities", validation.json_object, {}),
        extra_fields=fields.take("extra_fields", validation.extra_fields, []),
        fixed=fields.take("fixed", validation.json_object, {}),
        cost=fields.take("cost", validation.costs, None),
        enabled=fields.take("enabled", boolean, True),
    )


def _plan(fields: FieldReader) -> PlanSpec:
    return PlanSpec(
        path=fields.path,
        name=fields.need("name", validation.name),
        price_multiplier=fields.take("price_multiplier", validation.multiplier, Decimal(1)),
        routes=fields.items("routes", _route),
    )


def _route(fields: FieldReader) -> RouteSpec:
    return RouteSpec(
        path=fields.path,
        model=fields.need("model", validation.name),
        modality=fields.take("modality", one_of(*modalities.NAMES), None),
        channel=fields.need("channel", validation.name),
        priority=fields.take("priority", integer(-2_147_483_648), 10),
        weight=fields.take("weight", integer(0), 1),
        resubmit_ambiguous=fields.take("resubmit_ambiguous", boolean, False),
        enabled=fields.take("enabled", boolean, True),
    )


def _group(fields: FieldReader) -> GroupSpec:
    return GroupSpec(
        path=fields.path,
        name=fields.need("name", validation.name),
        platform=fields.need("platform", one_of(*validation.PLATFORMS)),
        image_generation=fields.take("image_generation", boolean, False),
        channels=fields.items("channels", _group_channel),
        models=fields.take("models", each(validation.name), None),
        prices=fields.take("prices", offer_rules.token_prices, {}),
        image_prices=fields.take("image_prices", offer_rules.image_prices, {}),
        tool_prices=fields.take("tool_prices", offer_rules.tool_prices, {}),
        extra_fields=fields.take("extra_fields", validation.extra_fields, []),
        extra_betas=fields.take("extra_betas", offer_rules.extra_betas, []),
    )


def _group_channel(fields: FieldReader) -> GroupChannelSpec:
    base_url = fields.need("base_url", validation.base_url)
    return GroupChannelSpec(
        path=fields.path,
        name=fields.take("name", validation.name, None),
        base_url=base_url,
        credentials=_credentials(fields, base_url),
        priority=fields.take("priority", integer(-2_147_483_648), 10),
        weight=fields.take("weight", integer(0), 1),
        dialects=fields.take("dialects", validation.dialects, []),
        upstream_models=fields.take("upstream_models", validation.upstream_models, {}),
        enabled=fields.take("enabled", boolean, True),
    )
