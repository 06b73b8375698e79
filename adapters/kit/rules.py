"""Rules for what an operator writes into a channel's options and a channel model's capabilities."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.base import Target, ValueKind
from adapters.kit.sizes import RATIO, pixels
from common import urls


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Says of a value in words what a good one is, None of a good one. `kind` and `choices` are for the forms that take
    it."""

    is_good: Callable[[Any], bool]
    wanted: str
    kind: ValueKind = "object"
    choices: tuple[str, ...] = ()

    def __call__(self, value: Any) -> str | None:
        return None if self.is_good(value) else self.wanted


Rules = Mapping[str, Rule]


def rule(
    is_good: Callable[[Any], bool], wanted: str, kind: ValueKind = "object", choices: tuple[str, ...] = ()
) -> Rule:
    return Rule(is_good=is_good, wanted=wanted, kind=kind, choices=choices)


def is_whole(value: object, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_table(value: object) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(row, dict) and row and all(map(pixels, row.values())) for row in value.values())
    )


def is_span(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(is_whole(item, 1) for item in value)
    return (
        isinstance(value, dict) and set(value) <= {"min", "max"} and all(is_whole(item, 1) for item in value.values())
    )


COUNT = rule(is_whole, "a whole number, 0 or more", "whole")
POSITIVE = rule(lambda value: is_whole(value, 1), "a whole number, 1 or more", "whole")
A_BOOLEAN = rule(lambda value: isinstance(value, bool), "a boolean", "switch")
A_RATIO = rule(lambda value: isinstance(value, str) and bool(RATIO.fullmatch(value)), "a ratio such as 16:9", "text")
BOOLEAN = rule(lambda value: isinstance(value, bool), "true or false", "switch")
NAMES = rule(
    lambda value: isinstance(value, list) and bool(value) and all(isinstance(item, str) and item for item in value),
    "a list of names",
    "names",
)
TEXT = rule(lambda value: isinstance(value, str) and bool(value), "a text", "text")
OBJECTS = rule(
    lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value), "a list of objects"
)
SEED = rule(lambda value: is_whole(value, -1), "a whole number, -1 or more", "whole")
SIZE_TABLE = rule(is_table, 'an object {tier: {ratio: "WIDTHxHEIGHT"}}', "sizes")
DURATIONS = rule(is_span, "a list of whole seconds, or an object with min and max", "durations")
POLL_SECONDS = rule(
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0.2 <= value <= 3600,
    "a number of seconds from 0.2 to 3600",
    "number",
)


def one_of(*names: str) -> Rule:
    return rule(lambda value: value in names, f"one of {', '.join(names)}", "choice", names)


def ratio_or(*words: str) -> Rule:
    return rule(lambda value: value in words or A_RATIO.is_good(value), f"{A_RATIO.wanted}, or {_listed(words)}")


def size_or(*words: str, sign: str = "x") -> Rule:
    """Pixels, with this sign between width and height, or one of a protocol's words for sizes."""
    swapped = str.maketrans({"x": sign, sign: "x"})

    def is_good(value: object) -> bool:
        return isinstance(value, str) and (value in words or pixels(value.translate(swapped)) is not None)

    return rule(is_good, f"a size in pixels such as 1024{sign}1024, or {_listed(words)}", "text")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


def counts_of(*names: str) -> Rule:
    """An object of counts under some of these names."""
    return rule(
        lambda value: isinstance(value, dict) and set(value) <= set(names) and all(map(is_whole, value.values())),
        f"an object of counts by {', '.join(names)}",
        "counts",
        names,
    )


IMAGE_CAPABILITIES: Rules = {
    "tiers": NAMES,
    "ratios": NAMES,
    "size_table": SIZE_TABLE,
    "max_n": POSITIVE,
    "max_images": COUNT,
    "prompt_max": POSITIVE,
    "data_url": BOOLEAN,
}
VIDEO_CAPABILITIES: Rules = {
    "durations": DURATIONS,
    "resolutions": NAMES,
    "ratios": NAMES,
    "size_table": SIZE_TABLE,
    "roles": counts_of("first_frame", "last_frame", "reference_image", "reference_video", "reference_audio"),
    "frames_exclusive_refs": BOOLEAN,
    "audio": one_of("switch", "always", "never"),
    "prompt_max": POSITIVE,
    "max_inputs": COUNT,
}


def complaints(target: Target, *, capabilities: Rules, options: Rules) -> list[str]:
    """What is wrong with a target's catalog values, in words."""
    return [
        *_of_address(target.base_url),
        *_complaints("capabilities", target.capabilities, capabilities),
        *_complaints("options", target.options, options),
    ]


def _of_address(base_url: str) -> Iterator[str]:
    try:
        urls.base_url(base_url)
    except ValueError as error:
        yield f"base_url: {error}"


def _complaints(place: str, values: Mapping[str, Any], rules: Rules) -> Iterator[str]:
    for name, value in values.items():
        if name not in rules:
            yield f"{place}.{name}: unknown; known are {', '.join(sorted(rules)) or 'none'}"
        elif wanted := rules[name](value):
            yield f"{place}.{name}: must be {wanted}"
