"""Rules of options and capabilities as the fields that forms draw. Pure."""

from collections.abc import Mapping

from adapters.base import OperatorField
from adapters.kit.rules import Rules

HELP: Mapping[str, str] = {
    "api": "Which generation of the provider's API it speaks. Empty: the newest that we know.",
    "audio": "Whether films have sound: as asked, always or never. Empty: as the protocol has it.",
    "data_url": "Whether it takes pictures as bytes. No: by URL alone.",
    "dialect": "Whose variant of the protocol it speaks. Empty: the protocol's own.",
    "durations": "Seconds of a film, as a list (5, 10) or a span (4-12). Empty: what the protocol knows.",
    "endpoint": "Which of the protocol's addresses films go to.",
    "fixed_size": "Whether it makes one size alone, and must not be asked for another.",
    "frames_exclusive_refs": "Whether a first or last frame rules reference inputs out.",
    "generation": "Which shape of request the model takes.",
    "input": "What every request of this model has beside the template's body.",
    "maps": "What this model calls our values: by field, then by value.",
    "max_images": "The most reference images. Empty: what the protocol knows.",
    "max_inputs": "The most inputs together. Empty: what the protocol knows.",
    "max_n": "The most pictures of one request. Empty: what the protocol knows.",
    "mode": "Whether it answers at once (sync) or with a job (async).",
    "multi_shot": "Whether films of several shots may be asked for.",
    "options": "Which further fields requests may set, and where they go in the body.",
    "poll_seconds": "Seconds between two looks at a job, from 0.2 to 3600. Empty: the protocol's.",
    "prompt_max": "The most characters of a prompt. Empty: what the protocol knows.",
    "ratio_with_frames": "Whether an aspect ratio may stand beside a frame.",
    "ratios": "Aspect ratios, with commas between them. Empty: what the protocol knows.",
    "resolutions": "Resolutions of films, with commas between them. Empty: what the protocol knows.",
    "roles": "The most inputs of each role; 0 takes none. Empty: what the protocol knows.",
    "size_table": "Which pixels each tier has at each ratio. Empty: the protocol's own.",
    "sizes": "Whether the provider takes sizes as pixels or as words.",
    "template": "Which shipped template describes the provider, or one of your own: docs/templates.md.",
    "tiers": "Sizes of pictures, with commas between them. Empty: what the protocol knows.",
    "version": "Which version of the provider's API it speaks. Empty: the newest that we know.",
    "workspace": "The id of the provider's workspace, where it needs one.",
}


def fields(rules: Rules) -> tuple[OperatorField, ...]:
    """In the order of the rules; what has no help of its own says what its rule wants."""
    return tuple(
        OperatorField(name=name, kind=rule.kind, choices=rule.choices, help=HELP.get(name) or f"{rule.wanted}.")
        for name, rule in rules.items()
    )
