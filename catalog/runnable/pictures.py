"""Which of the values that an image model lists the routes of a plan can express, each beside the defaults. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from adapters.base import ImageRef, StoredFile, TaskRequest
from adapters.kit.replaced_inputs import LONGEST_PROMPT
from catalog.model_params import IMAGE_CHOICES, IMAGE_COUNTS, most_of, tier_param
from catalog.runnable.trials import PROMPT, Trials, with_value
from common.params import tables
from common.params.row import ParamKind

PICTURE = ImageRef(url="https://example.com/picture.png")
OWN_PICTURE = ImageRef(stored=StoredFile(key="", content_type="image/png", size_bytes=1, sha256=""))
Bounds = Mapping[str, Any]


def of(trials: Trials) -> dict[str, Any] | None:
    """The bounds in the catalog's shape with what runs alone, `prompt` where routes take shorter ones than the service,
    optional fields of which they do not take every value, and `data_url`: False where they take no images but by
    address. None where nothing runs."""
    listed = trials.model.params
    base = next((request for request in _bases(trials, listed) if trials.runs(request)), None)
    if base is None:
        return None
    kept: dict[str, Any] = {name: bound for name, bound in listed.items() if name not in IMAGE_CHOICES}
    choices = {name: _choice(trials, base, name, listed[name]) for name in IMAGE_CHOICES if listed.get(name)}
    longest = trials.longest_prompt(base, LONGEST_PROMPT)
    takes_data = trials.runs(replace(base, images=(OWN_PICTURE,)))
    return {
        **kept,
        **{name: choice for name, choice in choices.items() if choice["values"]},
        **_counts(trials, base, listed),
        **trials.narrowed(base),
        **({"prompt": {"max": longest}} if longest < LONGEST_PROMPT else {}),
        **({} if takes_data else {"data_url": False}),
    }


def _bases(trials: Trials, listed: Bounds) -> Iterator[TaskRequest]:
    """Requests with the defaults, and with what may stand in their place, best first."""
    needs_tier = tier_param(trials.model.pricing_mode) == "image_size"
    sizes = _candidates(listed, "image_size", is_needed=needs_tier)
    for size, ratio in product(sizes, _candidates(listed, "aspect_ratio", is_needed=False)):
        yield TaskRequest(modality="image", prompt=PROMPT, image_size=size, aspect_ratio=ratio)


def _candidates(listed: Bounds, name: str, *, is_needed: bool) -> list[str | None]:
    """The default, the other values in their order, and none where a model can do without."""
    bound = listed.get(name) or {}
    values: Sequence[str] = bound.get("values") or ()
    defaults = [bound["default"]] if bound.get("default") in values else []
    return list(dict.fromkeys([*defaults, *values, *(() if is_needed and values else (None,))]))


def _choice(trials: Trials, base: TaskRequest, name: str, bound: Bounds) -> dict[str, Any]:
    values = [value for value in bound.get("values") or () if trials.runs(with_value(base, name, value))]
    default = bound.get("default")
    if default is None or default in values:
        return {**bound, "values": values}
    return {**bound, "values": values, "default": values[0] if values else None}


def _counts(trials: Trials, base: TaskRequest, listed: Bounds) -> dict[str, Any]:
    found = {
        name: trials.leading(
            with_value(base, name, _value(name, count)) for count in range(1, most_of(name, listed) + 1)
        )
        for name in IMAGE_COUNTS
    }
    return {name: {**listed[name], "max": most} for name, most in found.items() if listed.get(name)}


def _value(name: str, count: int) -> Any:
    return (PICTURE,) * count if tables.TABLES["image"][name].kind is ParamKind.IMAGES else count
