"""Differences between two catalog snapshots, in words. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from desk.catalog_file.tree_snapshot import TreeSnapshot

NEW, CHANGED, GONE = "new", "changed", "gone"
Entry = Mapping[str, Any]
NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceSentence:
    """Difference in words; `kind` is new, changed or gone."""

    kind: str
    text: str


def differences(before: TreeSnapshot, after: TreeSnapshot) -> list[DifferenceSentence]:
    """List all differences: prices first, then models, plans, channels and groups."""
    return [
        *_prices(before, after),
        *_models(before.tree, after.tree),
        *_plans(before.tree, after.tree),
        *_channels(before, after),
        *_groups(before.tree, after.tree),
    ]


def touches_credentials(before: TreeSnapshot, after: TreeSnapshot) -> bool:
    """Check whether credentials change, or the address of a channel that has some."""
    if before.credentials != after.credentials:
        return True
    old, new = _addresses(before.tree), _addresses(after.tree)
    return any(old.get(channel) != new.get(channel) for channel in before.credentials)


def _addresses(tree: Entry) -> dict[str, str]:
    groups = [channel for group in tree.get("groups", ()) for channel in group["channels"]]
    return {channel["name"]: channel["base_url"] for channel in [*tree["channels"], *groups]}


def amount(usd: object) -> str:
    """Format an exact amount of USD with at least two decimals."""
    whole, _, rest = format(Decimal(str(usd)), "f").partition(".")
    return f"${whole}.{rest.ljust(2, '0')}"


def _prices(before: TreeSnapshot, after: TreeSnapshot) -> Iterator[DifferenceSentence]:
    """Compare prices of models that are in both."""
    old, new = _by(before.tree["models"], _model_key), _by(after.tree["models"], _model_key)
    for key in new:
        if (
            key in old
            and (prices := (old[key]["pricing"]["prices"], new[key]["pricing"]["prices"]))
            and _differ(*prices)
        ):
            reach = after.reach(key)
            whom = f", for {_count(reach.plans, 'plan')}, {_count(reach.keys, 'key')}"
            yield from _tiers(key[1], *prices, whom)


def _differ(old: Entry, new: Entry) -> bool:
    return {tier: Decimal(str(usd)) for tier, usd in old.items()} != {t: Decimal(str(usd)) for t, usd in new.items()}


def compare_models(before: Entry, after: Entry) -> list[DifferenceSentence]:
    """Compare two entries of one model."""
    prices = _tiers(after["name"], before["pricing"]["prices"], after["pricing"]["prices"], "")
    fields = _fields(f"Model {after['name']}", flat(_priceless(before)), flat(_priceless(after)))
    return [*prices, *fields]


def compare_plans(before: Entry, after: Entry) -> list[DifferenceSentence]:
    """Compare two entries of one plan."""
    is_renamed = before["name"] != after["name"]
    renamed = DifferenceSentence(kind=CHANGED, text=f"Plan {before['name']} is now named {after['name']}.")
    rest = _plans({"plans": [{**before, "name": after["name"]}]}, {"plans": [after]})
    return [*([renamed] if is_renamed else []), *rest]


def _priceless(entry: Entry) -> Entry:
    return {**entry, "pricing": {"mode": entry["pricing"]["mode"]}}


def _tiers(model: str, old: Entry, new: Entry, whom: str) -> Iterator[DifferenceSentence]:
    for tier in dict.fromkeys((*old, *new)):
        if tier not in old:
            yield DifferenceSentence(kind=NEW, text=f"Price of {model} {tier} is new: {amount(new[tier])}{whom}.")
        elif tier not in new:
            yield DifferenceSentence(kind=GONE, text=f"Price of {model} {tier} {amount(old[tier])} is gone{whom}.")
        elif Decimal(str(old[tier])) != Decimal(str(new[tier])):
            yield DifferenceSentence(
                kind=CHANGED, text=f"Price of {model} {tier} {amount(old[tier])} → {amount(new[tier])}{whom}."
            )


def _models(before: Entry, after: Entry) -> Iterator[DifferenceSentence]:
    old, new = _by(before["models"], _model_key), _by(after["models"], _model_key)

    def made(entry: Entry) -> str:
        prices = ", ".join(f"{tier} {amount(usd)}" for tier, usd in entry["pricing"]["prices"].items())
        return f"Model {entry['name']} ({entry['modality']}) is new: plan {entry['default_plan']}, prices {prices}."

    yield from _compare(old, new, lambda entry: f"Model {entry['name']}", made=made, fields=_priceless)


def _plans(before: Entry, after: Entry) -> Iterator[DifferenceSentence]:
    old, new = _by(before["plans"], _name), _by(after["plans"], _name)
    served = {plan: len({_model_ref(route) for route in entry["routes"]}) for plan, entry in new.items()}
    for plan in [plan for plan in new if plan in old]:
        factors = old[plan]["price_multiplier"], new[plan]["price_multiplier"]
        if Decimal(str(factors[0])) != Decimal(str(factors[1])):
            what = f"Price multiplier of plan {plan} {factors[0]} → {factors[1]}"
            yield DifferenceSentence(
                kind=CHANGED, text=f"{what}: the prices of {_count(served[plan], 'model')} follow."
            )
    yield from _compare(
        old,
        new,
        lambda entry: f"Plan {entry['name']}",
        made=lambda entry: f"Plan {entry['name']} is new: price multiplier {entry['price_multiplier']}.",
        fields=lambda entry: {},
    )
    yield from _routes(old, new)


def _routes(old_plans: Mapping[Any, Entry], new_plans: Mapping[Any, Entry]) -> Iterator[DifferenceSentence]:
    def listed(plans: Mapping[Any, Entry]) -> dict[Any, Entry]:
        rows = [{**route, "plan": name} for name, plan in plans.items() for route in plan["routes"]]
        return _by(rows, lambda row: (row["plan"], *_model_ref(row), row["channel"]))

    yield from _compare(
        listed(old_plans),
        listed(new_plans),
        lambda row: f"Plan {row['plan']}: the route of {row['model']} to {row['channel']}",
        made=lambda row: (
            f"Plan {row['plan']}: {row['model']} goes to {row['channel']}, priority {row['priority']}, "
            f"weight {row['weight']}{'' if row.get('enabled', True) else ', disabled'}."
        ),
    )


def _channels(before: TreeSnapshot, after: TreeSnapshot) -> Iterator[DifferenceSentence]:
    old, new = _by(before.tree["channels"], _name), _by(after.tree["channels"], _name)
    yield from _compare(
        old,
        new,
        lambda entry: f"Channel {entry['name']}",
        made=lambda entry: f"Channel {entry['name']} is new: {entry['adapter']} at {entry['base_url']}.",
        fields=lambda entry: {name: value for name, value in entry.items() if name != "models"},
    )
    yield from _credentials(before, after)

    def listed(channels: Mapping[Any, Entry]) -> dict[Any, Entry]:
        rows = [{**offer, "channel": name} for name, channel in channels.items() for offer in channel["models"]]
        return _by(rows, lambda row: (row["channel"], *_model_ref(row)))

    yield from _compare(
        listed(old),
        listed(new),
        lambda row: f"Channel {row['channel']}: its offer of {row['model']}",
        made=lambda row: f"Channel {row['channel']} offers {row['model']} as {row['upstream_model']}.",
    )


def _credentials(before: TreeSnapshot, after: TreeSnapshot) -> Iterator[DifferenceSentence]:
    for channel in dict.fromkeys((*before.credentials, *after.credentials)):
        old, new = dict(before.credentials.get(channel, ())), dict(after.credentials.get(channel, ()))
        for row_id in [row for row in old if row not in new]:
            yield DifferenceSentence(kind=GONE, text=f"Channel {channel}: credential {old[row_id]} is no longer used.")
        for row_id in [row for row in new if row not in old]:
            yield DifferenceSentence(kind=NEW, text=f"Channel {channel}: credential {new[row_id]} is new.")


def _groups(before: Entry, after: Entry) -> Iterator[DifferenceSentence]:
    yield from _compare(
        _by(before.get("groups", ()), _name),
        _by(after.get("groups", ()), _name),
        lambda entry: f"Group {entry['name']} of general keys",
        made=lambda entry: f"Group {entry['name']} of general keys is new: {entry['platform']}.",
    )


def _compare(
    old: Mapping[Any, Entry],
    new: Mapping[Any, Entry],
    called: Callable[[Entry], str],
    *,
    made: Callable[[Entry], str],
    fields: Callable[[Entry], Entry] = dict,
) -> Iterator[DifferenceSentence]:
    """Yield a sentence for each row that is new or gone and for each changed field."""
    for key in dict.fromkeys((*old, *new)):
        if key not in old:
            yield DifferenceSentence(kind=NEW, text=made(new[key]))
        elif key not in new:
            yield DifferenceSentence(kind=GONE, text=f"{called(old[key])} is removed.")
        else:
            yield from _fields(called(new[key]), flat(fields(old[key])), flat(fields(new[key])))


def _fields(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[DifferenceSentence]:
    for path in dict.fromkeys((*old, *new)):
        if path in old and path in new and old[path] == new[path]:
            continue
        if path == "enabled":
            yield DifferenceSentence(kind=CHANGED, text=f"{what} is {'disabled' if path in new else 'enabled again'}.")
        else:
            was, will = (json.dumps(tree[path], ensure_ascii=False) if path in tree else NOTHING for tree in (old, new))
            yield DifferenceSentence(kind=CHANGED, text=f"{what}: {path} {was} → {will}.")


def flat(value: Entry, path: str = "") -> dict[str, Any]:
    """Flatten a tree to values by path; a list is a value."""
    found: dict[str, Any] = {}
    for name, inner in value.items():
        where = f"{path}.{name}" if path else str(name)
        found |= flat(inner, where) if isinstance(inner, Mapping) and inner else {where: inner}
    return found


def _by(rows: Any, key: Callable[[Entry], Any]) -> dict[Any, Entry]:
    return {key(row): row for row in rows}


def _name(entry: Entry) -> str:
    return str(entry["name"])


def _model_key(entry: Entry) -> tuple[str, str]:
    return entry["modality"], entry["name"]


def _model_ref(entry: Entry) -> tuple[str, str]:
    return entry["modality"], entry["model"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
