"""Which inputs, optional fields and prompts the routes of a plan can express of a video model. Pure.

Nobody lists the lengths, resolutions and ratios of films: those of `catalog/runnable/film_sizes.py` are tried.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from adapters.base import MediaInput, TaskRequest
from catalog.runnable import film_sizes
from catalog.runnable.film_sizes import Size
from catalog.runnable.trials import Trials, narrower
from common.params import tables
from common.params.row import InputType, Role
from common.params.video import MOST_INPUTS, ROLES

Kind = tuple[InputType, Role]
KINDS: tuple[Kind, ...] = tuple((kind, role) for kind, roles in ROLES.items() for role in roles)
LONGEST_PROMPT = 1_000_000
SIZE = frozenset({"params.resolution", "params.aspect_ratio"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmBounds:
    """What one route can express: the kinds of inputs, each alone or beside those that it needs; how many inputs; and
    which values of optional fields and how many characters of a prompt, beside inputs only where it `needs_inputs`."""

    kinds: frozenset[Kind]
    most_inputs: int
    needs_inputs: bool
    taken: Mapping[str, list[Any]]
    longest_prompt: int


def of(trials: Trials) -> dict[str, Any]:
    """The bounds in the catalog's shape: `inputs`, and optional fields and `prompt` where they are narrower than those
    of the service. Empty where nothing is found to run, so that nothing is known."""
    alone = (replace(trials, routes=(route,)) for route in trials.routes)
    found = [bounds for each in alone if (bounds := _of_route(each))]
    if not found:
        return {}
    kinds = {kind for bounds in found for kind in bounds.kinds}
    usual = [bounds for bounds in found if not bounds.needs_inputs] or found
    taken = {
        name: [
            value
            for value in tables.TABLES["video"][name].trial_values
            if any(value in each.taken[name] for each in usual)
        ]
        for name in usual[0].taken
    }
    longest = max(bounds.longest_prompt for bounds in usual)
    return {
        "inputs": {"max": max(bounds.most_inputs for bounds in found), "roles": _roles(kinds)},
        **narrower("video", taken),
        **({"prompt": {"max": longest}} if longest < LONGEST_PROMPT else {}),
    }


def _roles(kinds: Iterable[Kind]) -> dict[str, list[str]]:
    """The roles by type of input, in the order of KINDS."""
    roles: dict[str, list[str]] = {}
    for kind, role in KINDS:
        if (kind, role) in kinds:
            roles.setdefault(kind, []).append(role)
    return roles


def _of_route(trials: Trials) -> FilmBounds | None:
    sizes = film_sizes.of(trials)
    blank = film_sizes.of_some_length(trials, sizes[0])
    running, kinds = list[TaskRequest](), set[Kind]()
    for chosen in _sets():
        if chosen and kinds.issuperset(chosen):
            continue
        if request := _fitting(trials, replace(blank, inputs=tuple(map(_input, chosen))), sizes):
            running.append(request)
            kinds.update(chosen)
    if not running:
        return None
    base = running[0]
    return FilmBounds(
        kinds=frozenset(kinds),
        needs_inputs=bool(base.inputs),
        most_inputs=max(_grown(trials, request, sizes) for request in running),
        taken=trials.taken(base),
        longest_prompt=trials.longest_prompt(base, LONGEST_PROMPT),
    )


def _sets() -> Iterator[tuple[Kind, ...]]:
    """All sets of kinds, small ones first."""
    for count in range(len(KINDS) + 1):
        yield from combinations(KINDS, count)


def _input(kind: Kind) -> MediaInput:
    return MediaInput(type=kind[0], role=kind[1], url=f"https://example.com/{kind[0]}")


def _fitting(trials: Trials, request: TaskRequest, sizes: Sequence[Size]) -> TaskRequest | None:
    """The request with the first size that it runs with; no further size is tried where none is to blame."""
    for resolution, ratio in sizes:
        sized = replace(request, resolution=resolution, aspect_ratio=ratio)
        trial = trials.tried(sized)
        if trial.runs:
            return sized
        if trial.complaints and trial.complaints.isdisjoint(SIZE):
            return None
    return None


def _grown(trials: Trials, request: TaskRequest, sizes: Sequence[Size]) -> int:
    """How many inputs there are once no further one fits."""
    for kind in reversed(KINDS):
        while len(request.inputs) < MOST_INPUTS and not _is_complete(request, kind):
            more = replace(request, inputs=(*request.inputs, _input(kind)))
            if (fitting := _fitting(trials, more, [_size_of(request), *sizes])) is None:
                break
            request = fitting
    return len(request.inputs)


def _is_complete(request: TaskRequest, kind: Kind) -> bool:
    """Whether there is the one frame of its kind that a request may have."""
    return kind[1] != "reference" and any(media.role == kind[1] for media in request.inputs)


def _size_of(request: TaskRequest) -> Size:
    return request.resolution or "", request.aspect_ratio or ""
